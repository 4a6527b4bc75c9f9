package chat

import (
	"slices"
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/suggestion"
	"github.com/turncore/turncore/runtime/fault"
)

// retry says which failed attempts are repeated, and when.
type retry struct {
	maxAttempts int
	baseDelay   uint64 // ms before the second attempt; it doubles with each further one
	maxDelay    uint64 // upper bound of that delay in ms
	statuses    []int
	honorAfter  bool // heed the response's own delay
}

var defaultRetry = retry{
	maxAttempts: defaultRetryMaxAttempts, baseDelay: defaultRetryBaseDelayMs, maxDelay: defaultRetryMaxDelayMs,
	statuses: defaultRetryStatuses, honorAfter: true,
}

// retry sets the option retry. Missing members keep their defaults.
func (p *parser) retry(v []byte) {
	r := &p.options.retry
	p.members("retry", v, func(key, val []byte) {
		name := "retry." + string(key)
		switch string(key) {
		case "maxAttempts":
			r.maxAttempts = p.whole(name, val, minRetryMaxAttempts, maxRetryMaxAttempts)
		case "baseDelayMs":
			r.baseDelay = p.duration(name, val)
		case "maxDelayMs":
			r.maxDelay = p.duration(name, val)
		case "statuses":
			r.statuses = nil
			if value.EachItem(val, func(_ int, item []byte) bool {
				r.statuses = append(r.statuses, p.whole(name, item, minRetryStatuses, maxRetryStatuses))
				return true
			}) != nil {
				p.fail(name, "must be a list")
			}
		case "honorRetryAfter":
			r.honorAfter = p.flag(name, val)
		default:
			p.fail(name, suggestion.Unknown(string(key), strings.Fields(retryNames), ""))
		}
	})
}

// whole reads an integer within bounds.
func (p *parser) whole(name string, v []byte, low, high int64) int {
	n, ok := value.Int(v)
	if !ok || n < low || n > high {
		p.fail(name, "must be a whole number from "+strconv.FormatInt(low, 10)+" to "+strconv.FormatInt(high, 10))
	}
	return int(n)
}

// Reasons of failed attempts, for the log.
const (
	reasonStatus    = "http-status"
	reasonProvider  = "provider-error"
	reasonTransport = "transport-error"
	reasonTimeout   = "request-timeout"
	reasonStalled   = "stream-stalled"
	reasonCut       = "stream-error"
	reasonEmpty     = "empty-response"
)

// classify returns why an attempt failed and the corresponding status, 0 for none. reason is empty if another attempt
// would fail the same way.
func (a *Answer) classify(failure error) (reason string, status int) {
	switch {
	case a.status != 0:
		reason, status = reasonStatus, a.status
	case a.failure != nil:
		reason, status = reasonProvider, a.failure.status()
	case fault.Is(failure, fault.HTTPTransport) && !a.begun:
		return reasonTransport, 0
	case fault.Is(failure, fault.ChatRequestTimeout):
		return reasonTimeout, 0
	case fault.Is(failure, fault.ChatStreamStalled):
		return reasonStalled, 0
	case a.cut && fault.Is(failure, fault.ChatStreamError):
		return reasonCut, 0
	case a.finish == "" && fault.Is(failure, fault.ChatEmptyResponse):
		return reasonEmpty, 0
	default:
		return "", 0
	}
	if said := a.said(); !slices.Contains(a.options.retry.statuses, status) || said != nil && said.final() {
		return "", status
	}
	return reason, status
}

// shown reports whether the user has seen anything of the answer.
func (a *Answer) shown() bool { return len(a.message.text) > 0 || len(a.thoughts) > 0 }

// said is the endpoint's error message, nil for none.
func (a *Answer) said() *providerError {
	if a.status != 0 {
		return a.refusal
	}
	return a.failure
}

// another reports whether to repeat a failed attempt, and after how many ms. An answer that the user has seen is never
// requested again.
func (a *Answer) another(failure error, attempt int) (ms uint64, ok bool) {
	r := &a.options.retry
	if failure == nil || a.options.engine != nil || a.err != nil || a.d.Aborted() || a.d.Signalled() || a.shown() || attempt >= r.maxAttempts {
		return 0, false
	}
	reason, status := a.classify(failure)
	if reason == "" {
		return 0, false
	}
	ms = r.delay(attempt, a.retryAfter, a.d.Random())
	if a.deadline > 0 && a.d.Elapsed()+ms >= a.deadline {
		return 0, false
	}
	a.logRetry(failure, reason, status, attempt, ms)
	return ms, true
}

// delay returns the delay after an attempt: between half and all of the backoff, or the response's own delay after plus
// up to a tenth; after is -1 for none.
func (r *retry) delay(attempt int, after int64, random uint64) uint64 {
	ms := r.baseDelay
	for i := 1; i < attempt && ms < r.maxDelay; i++ {
		ms *= 2
	}
	ms = min(ms, r.maxDelay)
	if r.honorAfter && after >= 0 && uint64(after) >= ms {
		ms = min(uint64(after), r.maxDelay)
		return min(ms+random%(ms/10+1), r.maxDelay)
	}
	return ms - random%(ms/2+1)
}

func (a *Answer) logRetry(failure error, reason string, status, attempt int, ms uint64) {
	p := value.AppendMapHeader(nil, 5)
	p = value.AppendString(value.AppendString(p, "reason"), reason)
	p = value.AppendString(value.AppendString(p, "error"), clip([]byte(fault.MessageOf(failure)), maxMessage))
	for i, n := range [...]int64{int64(status), int64(attempt), int64(ms)} {
		p = value.AppendInt(value.AppendString(p, [...]string{"status", "attempt", "delayMs"}[i]), n)
	}
	a.d.Log(Info, "retry-attempt", "attempt "+strconv.Itoa(attempt)+" failed, the next one begins in "+strconv.Itoa(int(ms))+" ms", p)
}
