package chat

import (
	"slices"
	"strings"

	"github.com/turncore/turncore/internal/trust"
	"github.com/turncore/turncore/runtime/record"
)

// thoughtOptions select the thoughts that go back to the model. Payloads of the provider always do.
type thoughtOptions struct {
	form       thoughtForm
	surfacing  thoughtSurfacing
	compatible []string // tags of other thoughts to send back
}

// thoughtForm is the form in which thoughts go back.
type thoughtForm uint8

const (
	thoughtsOff   thoughtForm = iota
	thoughtsField             // in the protocol's own field
	thoughtsText              // in the text, between marks
)

// thoughtSurfacing selects whose thoughts go back.
type thoughtSurfacing uint8

const (
	allSelf    thoughtSurfacing = iota // all of the model's own thoughts
	latestSelf                         // the newest of them
	allOfAll                           // also thoughts of others
)

// plainThought is the tag of a thought that is just text.
const plainThought = "plain-text"

// thoughtOption sets one of the options about thoughts.
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
		var isList bool
		if o.compatible, isList = p.texts(name, v); !isList {
			p.fail(name, "must be a list")
		}
	}
}

// isSelf reports whether a thought is the model's own.
func isSelf(t record.Thought) bool {
	id, ok := t.Identity()
	return !ok || string(id.Identifier) == "assistant"
}

// isNative reports whether the provider accepts a thought back unchanged.
func (o *options) isNative(t record.Thought) bool {
	return t.Payload() != nil && o.protocol.Reasoning != "" && string(t.ReplayCompatibility()) == o.native && isSelf(t)
}

// surfaces reports whether the text of a thought goes back, unless only the newest does.
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

// newest is the handle of the model's newest thought whose text may go back, 0 for none.
func (s *source) newest(o *options) int64 {
	for _, it := range slices.Backward(s.items) {
		if t := record.Thought(it.body); isSelf(t) && !o.isNative(t) && o.surfaces(t) {
			return it.handle
		}
	}
	return 0
}

// addThought adds a thought to the unit, or appends it to dst if it goes into the text.
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

// addThoughts adds thoughts of the timeline to the unit, before the message's own text.
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

// rewindTo is the index in the last request's timeline from which to render again because the newest thought has
// changed; all of it if it has not.
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
