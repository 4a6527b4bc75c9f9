package chat

import (
	"strconv"

	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
	"github.com/turncore/turncore/runtime/value"
)

// place names an artifact in a record.
type place struct {
	handle int64
	part   int
}

// describe finds out what stands for the artifacts of a record: their handles, or when the record is inline their texts.
// It waits for the host; what is found out is kept, so that it is asked for once.
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

// describeCalls does so for the tool calls of the timeline from an item on.
func (p *projection) describeCalls(d Dispatch, from int) error {
	for _, it := range p.line[from:] {
		if it.kind != record.ToolCalls {
			continue
		}
		t := record.ToolCall(it.body)
		if results := t.Results(); value.KindOf(results) == value.KindList {
			if err := p.describe(d, it.kind, it.handle, t.ID(), results, t.Inline()); err != nil {
				return err
			}
		}
	}
	return nil
}

// describeFound does so for what was retrieved.
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

// artifactHandle is what the model sees in the place of an artifact's text.
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
	text = append(value.AppendJSONString(text, []byte(id)), " and one of: "...)
	for i, name := range d.ReaderTools(class) {
		if i > 0 {
			text = append(text, ", "...)
		}
		text = append(text, name...)
	}
	return append(text, '.'), nil
}

// appendParts appends what stands for parts, one a line: descriptions of artifacts, notes of media.
func (p *projection) appendParts(dst []byte, handle int64, parts []byte) []byte {
	first := true
	record.EachPart(parts, func(i int, kind record.PartKind, part []byte) bool {
		if !first {
			dst = append(dst, '\n')
		}
		first = false
		if kind == record.MediaPart {
			dst = appendMedia(dst, part)
		} else {
			dst = append(dst, p.artifacts[place{handle, i}]...)
		}
		return true
	})
	return dst
}

// appendMedia appends a note of a media, which the model does not get itself.
func appendMedia(dst []byte, m record.Media) []byte {
	dst = append(append(append(dst, '['), m.Kind()...), ' ')
	dst = append(value.AppendJSONString(dst, m.Filename()), ", "...)
	return append(append(dst, m.MimeType()...), ']')
}
