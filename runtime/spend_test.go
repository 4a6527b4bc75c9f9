package runtime

import (
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
)

func TestSpendLimit(t *testing.T) {
	spending := Spending{Limit: 0.01, Currency: "USD", Prices: []Price{
		{Model: "small", Input: 1, CachedInput: 0.5, Output: 4},
		{Model: "small-9", Input: 1000, Output: 1000},
		{Model: "large", Input: 10, CachedInput: 10, Output: 40},
	}}
	for _, c := range []struct {
		name, stats string
		iterations  int // including the nacked one
		code        fault.Code
		message     string
	}{
		// A call costs 2000 × 1 + 500 × 4 = 4000 millionths, so the third one exceeds the limit of 10,000.
		{"plain", `{"model":"small","promptTokens":2000,"completionTokens":500}`, 4, fault.SpendLimit, "0.012 USD of 0.01 USD"},
		{"a dated name", `{"model":"small-2024-07-18","promptTokens":2000,"completionTokens":500}`, 4, fault.SpendLimit, ""},
		{"the longest name", `{"model":"small-9-1","promptTokens":10}`, 2, fault.SpendLimit, ""},
		{"exactly the limit", `{"model":"small","promptTokens":10000,"completionTokens":0}`, 2, fault.SpendLimit, "0.01 USD of 0.01 USD"},
		{"cached input", `{"model":"small","promptTokens":2000,"completionTokens":500,"cachedTokens":2000}`, 5, fault.SpendLimit, ""},
		{"cached as OpenAI says", `{"model":"small","promptTokens":2000,"completionTokens":500,"raw":{"prompt_tokens_details":{"cached_tokens":2000}}}`, 5, fault.SpendLimit, ""},
		{"cached as DeepSeek says", `{"model":"small","promptTokens":2000,"completionTokens":500,"raw":{"prompt_cache_hit_tokens":9999}}`, 5, fault.SpendLimit, ""},
		{"another model", `{"model":"smaller","promptTokens":1,"completionTokens":1}`, 2, fault.SpendUnknownPrice, `"smaller"`},
		{"another family", `{"model":"small-mini","promptTokens":1}`, 2, fault.SpendUnknownPrice, `"small-mini"`},
		{"no model", `{"promptTokens":1}`, 2, fault.SpendUnknownPrice, "did not report its model"},
		{"no numbers", `{"model":"small","finishReason":"stop"}`, 2, fault.SpendUnknownPrice, "did not report its usage"},
	} {
		p := &play{t: t, config: Config{DispatchInput: []Middleware{{Builtin: SpendLimit(spending)}}}}
		p.executor = func(s *seam) error {
			if s.n > 20 {
				s.t.Fatal("no end")
			}
			s.d.ReportStats(valueFrom(c.stats))
			return nil
		}
		status, iterations, err := p.run()
		if status != StatusNack || iterations != c.iterations || !errors.Is(err, c.code) || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: %s after %d iterations, %v", c.name, statuses[status], iterations, err)
		}
	}
}

// The limit applies to the turn: an inner dispatch's spending counts, whether that dispatch is limited or not.
func TestSpendLimitCountsTheTurn(t *testing.T) {
	bound := []Middleware{{Builtin: SpendLimit(Spending{Limit: 1, Prices: []Price{{Model: "m", Input: 1, Output: 1}}})}}
	p := &play{t: t, config: Config{DispatchInput: bound}}
	inner := &Config{Executor: acking{`{"model":"m","promptTokens":2000000}`}}
	p.executor = func(s *seam) error {
		_, err := s.turn.Dispatch(s.task, s.d, inner)
		return err
	}
	status, iterations, err := p.run()
	if status != StatusNack || iterations != 2 || !errors.Is(err, fault.SpendLimit) {
		t.Fatalf("%s after %d iterations, %v", statuses[status], iterations, err)
	}
	spent, _ := value.Get(fault.DetailsOf(err), "spent")
	if f, _ := value.Number(spent); f != 2 {
		t.Errorf("spent %v", f)
	}
}

// acking is an executor that reports stats and acks.
type acking struct{ stats string }

func (a acking) Execute(_ Task, d *Dispatch) error {
	d.ReportStats(valueFrom(a.stats))
	return d.Ack()
}
