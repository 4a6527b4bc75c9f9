package turns

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/internal/panics"
	"github.com/turncore/turncore/host/record"
)

// spoolBytes writes a text and returns the reader that storage gives for it.
func (c *Callbacks) spoolBytes(ctx Context, id string, bytes io.Reader) (reader record.SpoolReader, err error) {
	defer panics.Recovered(&err)
	reader, err = c.StoreRetrievableBytes(ctx, id, bytes)
	if err == nil && reader == nil {
		err = newError(abi.CodeNotASpoolReader, "what storeRetrievableBytes gave for "+id, nil)
	}
	return reader, err
}

// spool returns the document that takes the place of one whose text is not inline: the same, with an artifact that reads
// the text. Others are returned as they are.
func (c *Callbacks) spool(ctx Context, r *record.Retrievable) (*record.Retrievable, error) {
	text, isText := record.StaticText(r.Content)
	if !isText || r.Inline {
		return r, nil
	}
	reader, err := c.spoolBytes(ctx, r.ID, strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	lines := 0
	if text != "" {
		lines = strings.Count(text, "\n") + 1
	}
	spooled := *r
	spooled.Content = record.NewArtifactOf(r.ArtifactClass, reader).WithSizeHints(int64(len(text)), lines)
	return &spooled, spooled.Validate()
}

// prepareArtifact decodes the arguments of an effect that is about artifacts. The caller holds t.mu.
func (e *effect) prepareArtifact(raw abi.Raw) error {
	t := e.turn
	switch e.kind {
	case abi.EffectSpool:
		args, err := abi.Decode[abi.SpoolArgs](raw)
		if err != nil {
			return err
		}
		r, ok := t.handles.Record(args.Handle).(*record.Retrievable)
		if !ok {
			return fmt.Errorf("handle %d names no document", args.Handle)
		}
		ctx, callbacks := e.storage()
		e.perform = func() (abi.Raw, error) { return nil, e.spool(ctx, callbacks, r) }
	case abi.EffectRead:
		args, err := abi.Decode[abi.ReadArgs](raw)
		if err != nil {
			return err
		}
		if m := t.media(args.Handle, args.Part); m != nil {
			if args.Read != abi.ReadSize {
				return fmt.Errorf("read %d of a media", args.Read)
			}
			e.perform = func() (abi.Raw, error) { return sizeOf(m), nil }
			return nil
		}
		a, err := t.artifact(args.Handle, args.Part)
		if err != nil {
			return err
		}
		if args.Read > abi.ReadText || args.To < args.From {
			return fmt.Errorf("read %d of lines %d to %d", args.Read, args.From, args.To)
		}
		ctx, limit := e.context.state.context(), int(t.core.greeting.Limits.Array)
		e.perform = func() (abi.Raw, error) { return performRead(ctx, a, &args, limit) }
	case abi.EffectForge:
		args, err := abi.Decode[abi.ForgeArgs](raw)
		if err != nil {
			return err
		}
		d := e.context.dispatch
		if d == nil {
			return fmt.Errorf("context %d is no dispatch", e.context.state.number)
		}
		e.perform = func() (abi.Raw, error) { return nil, d.forge(args.Classes) }
	default:
		return fmt.Errorf("kind %d is unknown", e.kind)
	}
	return nil
}

// spool spools a document. The one that takes its place is named when the result goes out, as handles ascend.
func (e *effect) spool(ctx Context, callbacks *Callbacks, r *record.Retrievable) error {
	spooled, err := callbacks.spool(ctx, r)
	if err != nil || spooled == r {
		return err
	}
	body, err := e.turn.encode(spooled)
	if err != nil {
		return err
	}
	e.named = func() abi.Raw {
		handle, data := e.turn.name(spooled, body)
		return (&abi.Item{Handle: handle, Data: data}).Append(nil)
	}
	return nil
}

// media is what stands at a place in a record's attachments or results, nil if it is no media.
func (t *turn) media(handle int64, part uint32) *record.Media {
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

// artifact is what stands at a place in a record: an artifact, or a text.
func (t *turn) artifact(handle int64, part uint32) (*record.SpooledArtifact, error) {
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
	return newError(abi.CodeArtifactTooLarge, what+" of "+strconv.FormatInt(size, 10)+" bytes, at most "+strconv.FormatUint(uint64(most), 10)+" are read at once", nil)
}

// artifacts visits the artifacts in the dispatch's context with their ids.
func (c *DispatchContext) artifacts(yield func(id string, a *record.SpooledArtifact)) {
	for _, call := range c.TurnToolCalls().Slice() {
		if call.FromArtifactTool {
			continue
		}
		switch results := call.Results.(type) {
		case *record.SpooledArtifact:
			yield(call.ID, results)
		case []*record.SpooledArtifact:
			for i, a := range results {
				yield(call.ID+"#"+strconv.Itoa(i), a)
			}
		}
	}
	for _, r := range c.TurnRetrievables().Slice() {
		if a, ok := r.Content.(*record.SpooledArtifact); ok && !r.Inline {
			yield(r.ID, a)
		}
	}
}

// FindArtifact returns the artifact with an id, like the reader tools: a tool call's, one of a list of results (id#n,
// from 0), or that of a document that is not inline; nil if there is none.
func (c *DispatchContext) FindArtifact(id string) (found *record.SpooledArtifact) {
	c.artifacts(func(name string, a *record.SpooledArtifact) {
		if found == nil && name == id {
			found = a
		}
	})
	return found
}

// ReaderTools makes the reader tools of an application's own class, for [record.ArtifactClass], at the start of an
// iteration whose context has artifacts of the class. ids are their ids: FindArtifact returns the artifacts. The
// tools should be Ephemeral and Artifact tools: both flags are set if they are not.
type ReaderTools func(ctx *DispatchContext, ids []string) []*Tool

// MakesReaderTools implements record.ReaderTools.
func (ReaderTools) MakesReaderTools() {}

// forge registers the reader tools of classes of the application's own. A tool of the application's that has the name of
// one stays.
func (c *DispatchContext) forge(classes []string) error {
	type group struct {
		class *record.ArtifactClass
		tools ReaderTools
		ids   []string
	}
	var groups []*group
	c.artifacts(func(id string, a *record.SpooledArtifact) {
		class := a.Class()
		makeTools, own := class.ReaderTools.(ReaderTools)
		if !own || makeTools == nil || class.BuiltIn() || !slices.Contains(classes, class.Name) {
			return
		}
		i := slices.IndexFunc(groups, func(g *group) bool { return g.class == class })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &group{class: class, tools: makeTools})
		}
		groups[i].ids = append(groups[i].ids, id)
	})
	for _, g := range groups {
		for _, tool := range g.tools(c, g.ids) {
			if err := tool.Validate(); err != nil {
				return err
			}
			if c.Tools().Has(tool.Name) {
				continue
			}
			forged := *tool
			forged.Ephemeral, forged.Artifact = true, true
			if err := c.Tools().Register(&forged, false); err != nil {
				return err
			}
		}
	}
	return nil
}
