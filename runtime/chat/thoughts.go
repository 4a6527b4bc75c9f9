package chat

import (
	"slices"
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/trust"
	"github.com/turncore/turncore/runtime/record"
)

// thoughtOptions say which thoughts go back to the model. Those that the provider has given to be sent back always do.
type thoughtOptions struct {
	form       thoughtForm
	surfacing  thoughtSurfacing
	compatible []string // tags that other thoughts may have
}

// thoughtForm is how thoughts go back.
type thoughtForm uint8

const (
	thoughtsOff   thoughtForm = iota
	thoughtsField             // in the field that the protocol has for them
	thoughtsText              // in the text, between marks
)

// thoughtSurfacing is whose thoughts go back.
type thoughtSurfacing uint8

const (
	allSelf    thoughtSurfacing = iota // all of the model's own
	latestSelf                         // the newest of them
	allOfAll                           // those of others too
)

// plainThought is the tag of a thought that is nothing but its text.
const plainThought = "plain-text"

// thoughtOption takes one of the options about thoughts.
func (p *parser) thoughtOption(name string, v []byte) {
	o := &p.thoughts
	switch name {
	case "thoughts":
		switch choice := p.text(name, v); {
		case choice == "off":
		case choice == "text":
			o.form = thoughtsText
		case slices.Contains(p.protocol.Thoughts, choice):
			o.form = thoughtsField
		default:
			p.fail(name, "must be one of "+strings.Join(append([]string{"off", "text"}, p.protocol.Thoughts...), ", "))
		}
	case "thoughtSurfacing":
		switch p.text(name, v) {
		case "all-self":
		case "latest-self":
			o.surfacing = latestSelf
		case "all":
			o.surfacing = allOfAll
		default:
			p.fail(name, oneOfThoughtSurfacing)
		}
	default:
		if value.EachItem(v, func(_ int, item []byte) bool {
			tag, ok := value.String(item)
			if !ok || len(tag) == 0 {
				p.fail(name, "must hold non-empty strings only")
				return false
			}
			o.compatible = append(o.compatible, string(tag))
			return true
		}) != nil {
			p.fail(name, "must be a list")
		}
	}
}

// isSelf reports whether a thought is the model's own.
func isSelf(t record.Thought) bool {
	id, ok := t.Identity()
	return !ok || string(id.Identifier) == "assistant"
}

// isNative reports whether a thought is one that the provider takes back as it gave it.
func (o *options) isNative(t record.Thought) bool {
	return t.Payload() != nil && o.protocol.Reasoning != "" && string(t.ReplayCompatibility()) == o.native && isSelf(t)
}

// surfaces reports whether the text of a thought goes back, apart from whether it is the newest.
func (o *options) surfaces(t record.Thought) bool {
	if o.thoughts.form == thoughtsOff || len(t.Content()) == 0 || o.thoughts.surfacing != allOfAll && !isSelf(t) {
		return false
	}
	tag := string(t.ReplayCompatibility())
	if t.Payload() == nil && (tag == "" || tag == plainThought) {
		return true
	}
	return slices.Contains(o.thoughts.compatible, tag)
}

// newest is the handle of the newest thought of the model's own whose text may go back, 0 for none.
func (s *source) newest(o *options) int64 {
	for _, it := range slices.Backward(s.items) {
		if t := record.Thought(it.body); isSelf(t) && !o.isNative(t) && o.surfaces(t) {
			return it.handle
		}
	}
	return 0
}

// addThought puts a thought into the unit, or behind dst when it stands in the text.
func (p *projection) addThought(o *options, d Dispatch, dst []byte, it item) []byte {
	t := record.Thought(it.body)
	switch {
	case o.isNative(t):
		p.unit.Thoughts = append(p.unit.Thoughts, UnitThought{Text: t.Content(), Payload: t.Payload()})
		return dst
	case !o.surfaces(t), o.thoughts.surfacing == latestSelf && it.handle != p.latest:
		return dst
	case o.thoughts.form == thoughtsField && isSelf(t):
		p.unit.Thoughts = append(p.unit.Thoughts, UnitThought{Text: t.Content()})
		return dst
	}
	kind, from := "self-reasoning", []byte(nil)
	if id, ok := t.Identity(); ok && !isSelf(t) {
		kind, from = "peer-reasoning", id.Representation
	}
	m := trust.Mark{Name: "thought", Nonce: p.nonce(d, it.kind, it.handle, t.ID())}
	m.Attributes = append(kindOf(kind), trust.Attribute{Name: "from", Value: from}, date(t.CreatedAt()))
	return o.marks.append(appendBlankLine(dst), m, t.Content())
}

// addThoughts puts thoughts of the timeline into the unit, those that stand in the text before what it says.
func (p *projection) addThoughts(o *options, d Dispatch, line []item) {
	var texts []byte
	for _, it := range line {
		if it.kind == record.Thoughts {
			texts = p.addThought(o, d, texts, it)
		}
	}
	if len(texts) == 0 {
		return
	}
	u, start := &p.unit, len(p.text)
	p.text = append(p.text, texts...)
	if len(u.Text) > 0 {
		p.text = append(append(p.text, "\n\n"...), u.Text...)
	}
	u.Text, u.HasText = p.text[start:len(p.text):len(p.text)], true
}

// rewindTo is the place in the timeline of the last request that must be made again because another thought is the
// newest one, all of it when none is.
func (p *projection) rewindTo(o *options) int {
	if o.thoughts.surfacing != latestSelf {
		return len(p.done)
	}
	before := p.latest
	p.latest = p.sources[1].newest(o)
	if before == 0 || before == p.latest {
		return len(p.done)
	}
	return max(slices.Index(p.done, before), 0)
}
