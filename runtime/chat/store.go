package chat

import (
	"bytes"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/record"
)

// seal completes the streams of an answer that is not stored, so that nobody waits for more, and marks interrupted
// ones. It ignores further errors, since the answer already has one.
func (a *Answer) seal() {
	for i := range a.thoughts {
		if t := &a.thoughts[i]; t.told {
			_ = a.to.SealThought(t.id, a.interrupted)
		}
	}
	if a.message.id != "" {
		_ = a.to.SealMessage(a.message.id, a.interrupted)
	}
}

// store completes the answer's streams and stores its records, thoughts first.
func (a *Answer) store() error {
	a.keepGiven()
	for i := range a.thoughts {
		t := &a.thoughts[i]
		behind := a.message.id != "" && a.message.created < t.created
		if behind && !a.options.protocol.InParts && (a.inOne || t.payload != nil) {
			t.created, a.message.created = a.message.created, t.created
		}
		if err := a.storeThought(i); err != nil {
			return err
		}
	}
	m := &a.message
	if m.id == "" {
		return nil
	}
	if a.paused {
		m.text = bytes.TrimRight(m.text, " \t\r\n")
	}
	if err := a.to.ReportMessage(m.id, nil, true); err != nil || len(m.text) == 0 {
		return err
	}
	return a.d.StoreMessage(record.AppendMessage(nil, record.MessageFields{
		ID: m.id, Role: "assistant", Content: m.text, CreatedAt: m.created, UpdatedAt: a.d.Stamp(),
	}))
}

// storeThought stores the reasoning of one source unless it is blank or repeats another's.
func (a *Answer) storeThought(i int) error {
	t := &a.thoughts[i]
	blank := len(bytes.TrimSpace(t.text)) == 0
	switch {
	case t.told: // even if it is blank
		if err := a.to.ReportThought(t.id, nil, true); err != nil {
			return err
		}
	case t.payload == nil && (blank || a.repeats(i)):
		return nil
	default:
		if err := a.to.ReportThought(t.id, t.text, true); err != nil {
			return err
		}
	}
	if blank && t.payload == nil {
		return nil
	}
	f := record.ThoughtFields{ID: t.id, Content: t.text, Payload: t.payload, CreatedAt: t.created, UpdatedAt: a.d.Stamp()}
	if t.payload != nil {
		f.ReplayCompatibility = a.options.native
	}
	return a.d.StoreThought(record.AppendThought(nil, f))
}

// repeats reports whether an earlier source has the same text as the i-th.
func (a *Answer) repeats(i int) bool {
	for j := range i {
		if bytes.Equal(a.thoughts[j].text, a.thoughts[i].text) {
			return true
		}
	}
	return false
}

// reportStats reports the known cost of the answer.
func (a *Answer) reportStats() error {
	if a.usage == nil && a.finish == "" && a.model == "" {
		return nil
	}
	stats := value.AppendMapHeader(make([]byte, 0, 256+len(a.usage)), 0) // room for the usual ones
	n := 0
	if a.usage != nil {
		u := a.options.provider.Usage(a.usage)
		for _, c := range [...]struct {
			stat  string
			count int64
			least int64
		}{
			{"promptTokens", u.Prompt, 0},
			{"completionTokens", u.Completion, 0},
			{"totalTokens", u.Total, 0},
			{"cachedTokens", u.Cached, 0},
			{"reasoningTokens", u.Reasoning, 1},
			{"totalDurationNs", u.TotalTime, 1},
			{"loadDurationNs", u.LoadTime, 1},
			{"promptEvalDurationNs", u.PromptTime, 1},
			{"evalDurationNs", u.CompletionTime, 1},
		} {
			if c.count >= c.least {
				stats = value.AppendInt(value.AppendString(stats, c.stat), c.count)
				n++
			}
		}
	}
	endpoint := a.provider
	if endpoint == "" {
		endpoint = a.options.endpoint
	}
	for _, c := range [...]struct{ stat, text string }{
		{"finishReason", a.finish},
		{"model", a.model},
		{"provider", endpoint},
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
	return a.to.ReportStats(value.CloseContainer(stats, 0, n))
}
