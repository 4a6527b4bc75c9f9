package turns

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/record"
)

// splice is a place in a body for the bytes of a media.
type splice struct {
	at    int
	media *record.Media
	max   uint64
}

// splices finds the media that go into a body. The caller holds t.mu.
func (t *turn) splices(body abi.Raw, list []abi.Splice) ([]splice, error) {
	data, err := abi.BytesOf(body)
	if err != nil {
		return nil, err
	}
	found := make([]splice, 0, len(list))
	var last uint64
	for _, s := range list {
		if s.At < last || s.At > uint64(len(data)) {
			return nil, fmt.Errorf("splice at %d of %d bytes, after one at %d", s.At, len(data), last)
		}
		last = s.At
		m := t.media(s.Handle, s.Part)
		if m == nil {
			return nil, fmt.Errorf("handle %d has no media at %d", s.Handle, s.Part)
		}
		found = append(found, splice{int(s.At), m, s.Max})
	}
	return found, nil
}

// media is what stands at a place in a record's attachments or results, nil if it is no media.
func (t *turn) media(handle int64, part uint32) *record.Media {
	var list []*record.Media
	switch r := t.handles.record(handle).(type) {
	case *record.Message:
		list = r.Attachments
	case *record.ToolCall:
		switch results := r.Results.(type) {
		case *record.Media:
			list = []*record.Media{results}
		case []*record.Media:
			list = results
		}
	}
	if uint64(part) >= uint64(len(list)) {
		return nil
	}
	return list[part]
}

// sizeOf is what ReadSize answers of a media.
func sizeOf(m *record.Media) abi.Raw {
	n, known := m.ByteLength()
	if !known || n < 0 {
		return (&abi.ReadResult{}).Append(nil)
	}
	return (&abi.ReadResult{Bytes: uint64(n), Count: 1}).Append(nil)
}

// insertMedia returns a body with the bytes of the media in their places, in base64.
func insertMedia(ctx context.Context, body []byte, list []splice) ([]byte, error) {
	if len(list) == 0 {
		return body, nil
	}
	whole := make([]byte, 0, len(body))
	from := 0
	for _, s := range list {
		data, err := s.read(ctx)
		if err != nil {
			return nil, err
		}
		whole = append(whole, body[from:s.at]...)
		from = s.at
		whole = slices.Grow(whole, base64.StdEncoding.EncodedLen(len(data)))
		whole = base64.StdEncoding.AppendEncode(whole, data)
	}
	return append(whole, body[from:]...), nil
}

// read reads the media, as far as it may be read.
func (s *splice) read(ctx context.Context) ([]byte, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	most := int64(min(s.max, 1<<53))
	if n, known := s.media.ByteLength(); known && n > most {
		return nil, s.tooLarge()
	}
	in, err := s.media.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, s.tooLarge()
	}
	return data, nil
}

func (s *splice) tooLarge() error {
	return newError(abi.CodeMediaTooLarge, "media "+s.media.ID+" has more than "+strconv.FormatUint(s.max, 10)+" bytes", nil)
}
