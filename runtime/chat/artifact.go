package chat

import (
	"strconv"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// place is the position of an artifact or a medium in a record.
type place struct {
	handle int64
	part   int
}

// describe prepares the text that represents the artifacts of a record: their handles, or for an inline record their
// whole texts. It waits for the host once and caches the answers.
func (p *projection) describe(d Dispatch, kind record.Kind, handle int64, id, content []byte, inline bool) (err error) {
	list := record.PartOf(content) == record.NoPart
	record.EachPart(content, func(i int, part record.PartKind, body []byte) bool {
		at := place{handle, i}
		if _, known := p.artifacts[at]; known || part == record.MediaPart {
			return true
		}
		name := string(id)
		if list {
			name += "#" + strconv.Itoa(i)
		}
		var text []byte
		if part == record.TextPart || inline {
			text, err = d.ArtifactText(kind, handle, i)
			if fault.Is(err, fault.ArtifactTooLarge) && part == record.ArtifactPart {
				d.Log(Warn, "artifact-too-large", "the artifact "+name+" is inline and too large to be read whole: the model gets its handle", nil)
				text, err = artifactHandle(d, kind, handle, i, name, body)
			}
		} else {
			text, err = artifactHandle(d, kind, handle, i, name, body)
		}
		if err != nil {
			return false
		}
		if p.artifacts == nil {
			p.artifacts = make(map[place]string)
		}
		p.artifacts[at] = string(text)
		return true
	})
	return err
}

// describeLine does so for the timeline from an item on, including media.
func (p *projection) describeLine(o *options, d Dispatch, from int) error {
	for _, it := range p.line[from:] {
		var media []byte
		switch it.kind {
		case record.Messages:
			if m := record.Message(it.body); string(m.Role()) != "assistant" { // its media are never sent
				media = m.Attachments()
			}
		case record.ToolCalls:
			t := record.ToolCall(it.body)
			results := t.Results()
			if value.KindOf(results) != value.KindList {
				continue
			}
			if err := p.describe(d, it.kind, it.handle, t.ID(), results, t.Inline()); err != nil {
				return err
			}
			media = results
		}
		if media == nil {
			continue
		}
		if err := p.describeMedia(o, d, it.handle, media); err != nil {
			return err
		}
		if err := p.unsupported(o, it.handle, media); err != nil {
			return err
		}
	}
	return nil
}

// describeFound does so for the retrievables.
func (p *projection) describeFound(d Dispatch) error {
	p.found = p.found[:0]
	d.Records(record.Retrievables, func(handle int64, body []byte) bool {
		if record.Retrievable(body).Part() != nil {
			p.found = append(p.found, item{kind: record.Retrievables, handle: handle, body: body})
		}
		return true
	})
	for _, it := range p.found {
		r := record.Retrievable(it.body)
		if err := p.describe(d, it.kind, it.handle, r.ID(), r.Part(), r.Inline()); err != nil {
			return err
		}
	}
	return nil
}

// artifactHandle is the text that the model sees in place of an artifact's content.
func artifactHandle(d Dispatch, kind record.Kind, handle int64, part int, id string, a record.Artifact) ([]byte, error) {
	bytes, lines := uint64(max(a.Bytes(), 0)), uint64(max(a.Lines(), 0))
	if a.Bytes() < 0 || a.Lines() < 0 {
		var err error
		if bytes, lines, err = d.ArtifactSize(kind, handle, part); err != nil {
			return nil, err
		}
	}
	class := string(a.ClassName())
	text := append([]byte("Artifact "), id...)
	text = append(append(append(text, " ("...), class...), ", "...)
	text = append(strconv.AppendUint(text, bytes, 10), " bytes, "...)
	text = append(strconv.AppendUint(text, lines, 10), " lines). Its text is not shown here. Read it with callId "...)
	text = append(value.AppendJSONString(text, id), " and one of: "...)
	for i, name := range d.ReaderTools(class) {
		if i > 0 {
			text = append(text, ", "...)
		}
		text = append(text, name...)
	}
	return append(text, '.'), nil
}

// appendParts appends the texts that represent artifacts, one per line.
func (p *projection) appendParts(dst []byte, handle int64, parts []byte) []byte {
	first := true
	record.EachPart(parts, func(i int, kind record.PartKind, part []byte) bool {
		if kind == record.MediaPart {
			return true
		}
		if !first {
			dst = append(dst, '\n')
		}
		first = false
		dst = append(dst, p.artifacts[place{handle, i}]...)
		return true
	})
	return dst
}
