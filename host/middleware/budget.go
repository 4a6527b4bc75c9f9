package middleware

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/internal/builtin"
	"github.com/turncore/turncore/host/turns"
)

// Budget configures [TokenBudget].
type Budget struct {
	// Encoding is a token encoding: one with a tokenizer of the runner, "claude" (a token is 3.5 UTF-16 code units), or
	// any other (4, with a warning).
	Encoding string
	// Limit is the size of the model's window in tokens: from 1 to 2,147,483,647.
	Limit int
	// Reserve is the number of these tokens to keep free, for the answer and for tokens that a provider adds around
	// texts.
	Reserve int
}

// TokenBudget is a middleware for the dispatch input pipeline that fits the dispatch's context into b.Limit minus
// b.Reserve tokens. It removes records from the dispatch's own collections, but not from the turn's or from storage:
// first the conversation before the last user message, oldest first; then retrieved documents, lowest score first;
// then memories, least important first; then the dispatch's records since that message, oldest first. Adjacent tool
// calls are removed together. System prompt, standing instructions, tools and the last user message stay: if they
// alone do not fit, it changes nothing and nacks with E_TOKEN_BUDGET.
func TokenBudget(b Budget) turns.DispatchMiddleware {
	m := &builtin.Middleware{Name: "tokenBudget", Input: true}
	switch wrong := builtin.Positive("tokenBudget.limit", b.Limit); {
	case b.Encoding == "":
		m.Broken = "tokenBudget.encoding must not be empty"
	case wrong != "":
		m.Broken = wrong
	case b.Reserve < 0 || b.Reserve >= b.Limit:
		m.Broken = "tokenBudget.reserve must be an integer from 0 and less than limit"
	}
	arg := value.AppendString(value.AppendString(value.AppendMapHeader(nil, 3), "encoding"), b.Encoding)
	arg = value.AppendInt(value.AppendString(arg, "limit"), int64(b.Limit))
	m.Arg = value.AppendInt(value.AppendString(arg, "reserve"), int64(b.Reserve))
	return entry(m)
}
