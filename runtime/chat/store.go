package chat

import (
	"bytes"

	"github.com/turncore/turncore/runtime/record"
	"github.com/turncore/turncore/runtime/value"
)

// seal completes the streams of an answer that is not stored, so that nobody waits for more. The answer has an error
// already; another one has nowhere to go.
func (a *answer) seal() {
	if len(a.thoughts) > 0 {
		_ = a.d.ReportThought(a.thoughts[0].id, nil, true)
	}
	if a.message.id != "" {
		_ = a.d.ReportMessage(a.message.id, nil, true)
	}
}

// store completes the answer's streams and stores its records: what was thought before what was said.
func (a *answer) store() error {
	for i := range a.thoughts {
		if err := a.storeThought(i); err != nil {
			return err
		}
	}
	m := &a.message
	if m.id == "" {
		return nil
	}
	if err := a.d.ReportMessage(m.id, nil, true); err != nil {
		return err
	}
	return a.d.StoreMessage(record.AppendMessage(nil, record.MessageFields{
		ID: m.id, Role: "assistant", Content: m.text, CreatedAt: m.created, UpdatedAt: a.d.Stamp(),
	}))
}

// storeThought stores the reasoning of one source unless it is blank, or the same as another's.
func (a *answer) storeThought(i int) error {
	t := &a.thoughts[i]
	blank := len(bytes.TrimSpace(t.text)) == 0
	switch {
	case i == 0: // reported as it came, blank or not
		if err := a.d.ReportThought(t.id, nil, true); err != nil {
			return err
		}
	case blank || a.repeats(i):
		return nil
	default:
		if err := a.d.ReportThought(t.id, t.text, true); err != nil {
			return err
		}
	}
	if blank {
		return nil
	}
	return a.d.StoreThought(record.AppendThought(nil, record.ThoughtFields{
		ID: t.id, Content: t.text, CreatedAt: t.created, UpdatedAt: a.d.Stamp(),
	}))
}

// repeats tells whether an earlier source said the same as the i-th.
func (a *answer) repeats(i int) bool {
	for j := range i {
		if bytes.Equal(a.thoughts[j].text, a.thoughts[i].text) {
			return true
		}
	}
	return false
}

// reportStats tells what is known about what the answer cost.
func (a *answer) reportStats() error {
	var stats []byte
	n := 0
	for _, c := range [...]struct{ stat, usage string }{
		{"promptTokens", "prompt_tokens"},
		{"completionTokens", "completion_tokens"},
		{"totalTokens", "total_tokens"},
	} {
		if v, ok := value.Get(a.usage, c.usage); ok && value.KindOf(v) == value.KindInt {
			stats = append(value.AppendString(stats, c.stat), v...)
			n++
		}
	}
	if a.usage == nil && a.finish == "" && a.model == "" {
		return nil
	}
	provider := a.provider
	if provider == "" {
		provider = a.options.provider
	}
	for _, c := range [...]struct{ stat, text string }{
		{"finishReason", a.finish},
		{"model", a.model},
		{"provider", provider},
	} {
		if c.text != "" {
			stats = value.AppendString(value.AppendString(stats, c.stat), c.text)
			n++
		}
	}
	if a.usage != nil && fits(a.usage) {
		stats = append(value.AppendString(stats, "raw"), a.usage...)
		n++
	}
	return a.d.ReportStats(append(value.AppendMapHeader(nil, n), stats...))
}
