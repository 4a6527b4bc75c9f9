package runtime

import (
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
)

// usage is the number of tokens that the calls of a model used in a turn.
type usage struct {
	model                      string
	prompt, cached, completion float64
	unknown                    bool // a call reported no numbers
}

// noteUsage adds a model call's reported usage to the turn's.
func (t *Turn) noteUsage(stats []byte) {
	prompt, told := tokensIn(stats, "promptTokens")
	completion, also := tokensIn(stats, "completionTokens")
	cached, ok := tokensIn(stats, "cachedTokens")
	if raw, there := value.Get(stats, "raw"); there && !ok {
		if cached, ok = tokensIn(raw, "prompt_cache_hit_tokens"); !ok {
			details, _ := value.Get(raw, "prompt_tokens_details")
			cached, _ = tokensIn(details, "cached_tokens")
		}
	}
	model, _ := value.GetString(stats, "model")
	u := t.usageOf(string(model))
	u.prompt += prompt
	u.completion += completion
	u.cached += min(cached, prompt)
	u.unknown = u.unknown || !told && !also
}

func (t *Turn) usageOf(model string) *usage {
	for i := range t.usage {
		if t.usage[i].model == model {
			return &t.usage[i]
		}
	}
	t.usage = append(t.usage, usage{model: model})
	return &t.usage[len(t.usage)-1]
}

// tokensIn reads a number of tokens from a map.
func tokensIn(m []byte, name string) (n float64, ok bool) {
	v, _ := value.Get(m, name)
	n, ok = value.Number(v)
	if !ok || !(n >= 0) {
		return 0, false
	}
	return n, true
}

// Price of a model per million tokens.
type Price struct {
	Model                      string
	Input, CachedInput, Output float64
}

// Spending is the argument of SpendLimit.
type Spending struct {
	Limit    float64
	Currency string // for messages
	Prices   []Price
}

// SpendLimit nacks with E_SPEND_LIMIT before a model call if the reported usage of the turn's calls, in all its
// dispatches, has reached the limit. Usage without a known price nacks with E_SPEND_UNKNOWN_PRICE. It belongs in the
// dispatch input pipeline.
func SpendLimit(s Spending) Bound {
	return func(_ Task, d *Dispatch) error {
		if d.signalled() {
			return nil
		}
		spent := 0.0
		for i := range d.turn.usage {
			u := &d.turn.usage[i]
			price := s.price(u.model)
			switch {
			case price == nil && u.model == "":
				return d.Nack(fault.New(fault.SpendUnknownPrice, "a model call did not report its model"))
			case price == nil:
				return d.Nack(fault.New(fault.SpendUnknownPrice, "there is no price for "+strconv.Quote(u.model)))
			case u.unknown:
				return d.Nack(fault.New(fault.SpendUnknownPrice, "a call of "+strconv.Quote(u.model)+" did not report its usage"))
			}
			// The conversions keep the compiler from fusing operations, which would round differently.
			spent += float64((u.prompt-u.cached)*price.Input) / 1e6
			spent += float64(u.cached*price.CachedInput) / 1e6
			spent += float64(u.completion*price.Output) / 1e6
		}
		if spent < s.Limit {
			return nil
		}
		f := fault.New(fault.SpendLimit, amount(spent, s.Currency)+" of "+amount(s.Limit, s.Currency))
		f.Details = value.AppendNumber(value.AppendString(value.AppendMapHeader(nil, 3), "spent"), spent)
		f.Details = value.AppendNumber(value.AppendString(f.Details, "limit"), s.Limit)
		f.Details = value.AppendString(value.AppendString(f.Details, "currency"), s.Currency)
		return d.Nack(f)
	}
}

// price finds a model by its name, or by its name without the date or version at the end.
func (s *Spending) price(model string) *Price {
	best := -1
	for i := range s.Prices {
		name := s.Prices[i].Model
		if name == model {
			return &s.Prices[i]
		}
		rest, ok := strings.CutPrefix(model, name+"-")
		if ok && strings.Trim(rest, "-.0123456789") == "" && (best < 0 || len(name) > len(s.Prices[best].Model)) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return &s.Prices[best]
}

// amount formats a sum, to a millionth.
func amount(sum float64, currency string) string {
	text := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(sum, 'f', 6, 64), "0"), ".")
	if currency == "" {
		return text
	}
	return text + " " + currency
}
