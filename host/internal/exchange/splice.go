package exchange

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
)

// Splice is a place in a body for the bytes of a media.
type Splice struct {
	At    int
	Media *record.Media
	Max   uint64 // bytes that the media may have
}

// Splices finds the media that go into a body.
func Splices(body abi.Raw, list []abi.Splice, media func(handle int64, part uint32) *record.Media) ([]Splice, error) {
	data, err := abi.BytesOf(body)
	if err != nil {
		return nil, err
	}
	found := make([]Splice, 0, len(list))
	var last uint64
	for _, s := range list {
		if s.At < last || s.At > uint64(len(data)) {
			return nil, fmt.Errorf("splice at %d of %d bytes, after one at %d", s.At, len(data), last)
		}
		last = s.At
		m := media(s.Handle, s.Part)
		if m == nil {
			return nil, fmt.Errorf("handle %d has no media at %d", s.Handle, s.Part)
		}
		found = append(found, Splice{int(s.At), m, s.Max})
	}
	return found, nil
}

// Insert returns a body with the bytes of the media in their places, in base64.
func Insert(ctx context.Context, body []byte, list []Splice) ([]byte, error) {
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
		whole = append(whole, body[from:s.At]...)
		from = s.At
		whole = slices.Grow(whole, base64.StdEncoding.EncodedLen(len(data)))
		whole = base64.StdEncoding.AppendEncode(whole, data)
	}
	return append(whole, body[from:]...), nil
}

// read reads the media, as far as it may be read.
func (s *Splice) read(ctx context.Context) ([]byte, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	most := int64(min(s.Max, 1<<53))
	if n, known := s.Media.ByteLength(); known && n > most {
		return nil, s.tooLarge()
	}
	in, err := s.Media.Open()
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

func (s *Splice) tooLarge() error {
	return host.NewError(abi.CodeMediaTooLarge, "media "+s.Media.ID+" has more than "+strconv.FormatUint(s.Max, 10)+" bytes", nil)
}
