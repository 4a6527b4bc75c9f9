package turn

import (
	"context"
	"fmt"
	"strconv"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
)

// prepareRead prepares to read an artifact, or to tell the size of a media. The caller holds t.mu.
func (e *Effect) prepareRead(f *abi.Effect) error {
	t := e.turn
	var args abi.ReadArgs
	err := args.Unmarshal(f.Args)
	if err != nil {
		return err
	}
	if m := t.Media(args.Handle, args.Part); m != nil {
		if args.Read != abi.ReadSize {
			return fmt.Errorf("read %d of a media", args.Read)
		}
		e.Perform = func() (abi.Raw, error) { return sizeOf(m), nil }
		return nil
	}
	a, err := t.Artifact(args.Handle, args.Part)
	if err != nil {
		return err
	}
	if args.Read > abi.ReadText || args.To < args.From {
		return fmt.Errorf("read %d of lines %d to %d", args.Read, args.From, args.To)
	}
	ctx, limit := e.Context.Signal(), int(t.core.Greeting().Limits.Array)
	e.Perform = func() (abi.Raw, error) { return performRead(ctx, a, &args, limit) }
	return nil
}

// Record is the record that a handle names, nil for none. The caller holds the turn's lock.
func (t *Turn) Record(handle int64) record.Record { return t.handles.Record(handle) }

// Media is what stands at a place in a record's attachments or results, nil if it is no media. The caller
// holds the turn's lock.
func (t *Turn) Media(handle int64, part uint32) *record.Media {
	var list []*record.Media
	switch r := t.handles.Record(handle).(type) {
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

// Artifact is what stands at a place in a record: an artifact, or a text. The caller holds the turn's lock.
func (t *Turn) Artifact(handle int64, part uint32) (*record.SpooledArtifact, error) {
	var content any
	switch r := t.handles.Record(handle).(type) {
	case *record.ToolCall:
		content = r.Results
		if list, ok := content.([]*record.SpooledArtifact); ok && uint64(part) < uint64(len(list)) {
			return list[part], nil
		}
	case *record.Retrievable:
		content = r.Content
	}
	switch c := content.(type) {
	case *record.SpooledArtifact:
		if part == 0 {
			return c, nil
		}
	case string:
		if part == 0 {
			return record.NewSpooledArtifact(record.NewBlob([]byte(c))), nil
		}
	}
	return nil, fmt.Errorf("handle %d has no artifact at %d", handle, part)
}

// performRead reads a part of an artifact. limit is how many lines fit a frame.
func performRead(ctx context.Context, a *record.SpooledArtifact, args *abi.ReadArgs, limit int) (abi.Raw, error) {
	r := a.Reader()
	bytes, err := record.ByteLength(ctx, r)
	if err != nil {
		return nil, err
	}
	count, err := r.LineCount(ctx)
	if err != nil {
		return nil, err
	}
	result := abi.ReadResult{Bytes: uint64(max(bytes, 0)), Count: uint64(max(count, 0))}
	room := int64(args.Max)
	switch args.Read {
	case abi.ReadText:
		if bytes > room {
			return nil, tooLargeToRead("a text", bytes, args.Max)
		}
		text, err := r.ReadAll(ctx)
		if err != nil {
			return nil, err
		}
		if text = value.UTF8(text); int64(len(text)) > room {
			return nil, tooLargeToRead("a text", int64(len(text)), args.Max)
		}
		result.Lines = []string{text}
	case abi.ReadLines:
		most := min(args.To, result.Count) - min(args.From, result.Count)
		if most = min(most, uint64(limit)); most == 0 {
			break
		}
		err = record.ReadLines(ctx, r, int(args.From), func(line []byte) bool {
			text := value.UTF8(string(line))
			if room -= int64(len(text)); room < 0 {
				return false
			}
			result.Lines = append(result.Lines, text)
			return uint64(len(result.Lines)) < most
		})
		if err == nil && room < 0 && len(result.Lines) == 0 {
			err = tooLargeToRead("line "+strconv.FormatUint(args.From, 10), int64(args.Max)-room, args.Max)
		}
	}
	if err != nil {
		return nil, err
	}
	return result.Append(nil), nil
}

func tooLargeToRead(what string, size int64, most uint32) error {
	return host.NewError(abi.CodeArtifactTooLarge, what+" of "+strconv.FormatInt(size, 10)+" bytes, at most "+strconv.FormatUint(uint64(most), 10)+" are read at once", nil)
}
