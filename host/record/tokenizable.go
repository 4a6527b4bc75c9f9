package record

import (
	"context"
	"errors"
	"sync"
	"weak"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/panics"
	"github.com/turncore/turncore/host/internal/tokens"
)

// Tokenizer counts the tokens of texts: one number from 0 for each, in their order. It gets all texts to count in one
// call, from any goroutine, and need not cache anything: its counts are kept.
type Tokenizer func(texts []string) ([]int, error)

// TextEvaluator returns the text of a dynamic Tokenizable. It is called at every read. ctx is the
// *turns.DispatchContext of the reading dispatch, or context.Background() if the reader has none.
type TextEvaluator func(ctx context.Context) (string, error)

// Tokenizable is a piece of text for a model, static or dynamic. ToolCall.Results and Retrievable.Content may hold
// one instead of a string; messages, memories and thoughts have a separate field for one. For other string fields use
// the result of Render. Its methods may be called from any goroutine. Set and SetDynamic change later reads, but not
// the module's copy.
type Tokenizable struct {
	mu       sync.Mutex
	text     string
	evaluate TextEvaluator // nil for a static one
	// counts are tokens by encoding, as the text reads in a scope.
	counts  map[string]int
	counted weak.Pointer[tokens.Scope]
}

// NewTokenizable returns a static text, which may be empty.
func NewTokenizable(text string) *Tokenizable { return &Tokenizable{text: text} }

// NewDynamicTokenizable returns a text that evaluate returns at each read.
func NewDynamicTokenizable(evaluate TextEvaluator) *Tokenizable {
	t := &Tokenizable{}
	t.SetDynamic(evaluate)
	return t
}

// Set makes it a static text and clears the token counts.
func (t *Tokenizable) Set(text string) { t.set(text, nil) }

// SetDynamic makes it a dynamic text from evaluate and clears the token counts.
func (t *Tokenizable) SetDynamic(evaluate TextEvaluator) {
	if evaluate == nil {
		evaluate = func(context.Context) (string, error) { return "", errors.New("there is no evaluator") }
	}
	t.set("", evaluate)
}

func (t *Tokenizable) set(text string, evaluate TextEvaluator) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text, t.evaluate, t.counts = text, evaluate, nil
}

// Dynamic reports whether a function returns the text.
func (t *Tokenizable) Dynamic() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.evaluate != nil
}

// Render returns the text as it reads in a context, such as that of a dispatch. It fails with
// E_TOKENIZABLE_EVALUATOR_INVALID if the evaluator failed or panicked; its error is the cause.
func (t *Tokenizable) Render(ctx context.Context) (text string, err error) {
	t.mu.Lock()
	text, evaluate := t.text, t.evaluate
	t.mu.Unlock()
	if evaluate == nil {
		return text, nil
	}
	defer func() {
		if v := recover(); v != nil {
			text, err = "", evaluatorFailed(panics.Caught(v))
		}
	}()
	if text, err = evaluate(ctx); err != nil {
		return "", evaluatorFailed(err)
	}
	return text, nil
}

func evaluatorFailed(err error) error {
	return host.NewError(host.CodeTokenizableEvaluatorInvalid, err.Error(), err)
}

// String is the text without a context; it is empty if the evaluator failed.
func (t *Tokenizable) String() string {
	text, _ := t.Render(context.Background())
	return text
}

// MarshalText returns the text without a context, so that JSON shows it as a string.
func (t *Tokenizable) MarshalText() ([]byte, error) {
	text, err := t.Render(context.Background())
	return []byte(text), err
}

// EstimateTokens estimates how many tokens the text has in an encoding, as it reads in a context: in one of a turn with
// the tokenizers of its runner, as turns.Context has it, and elsewhere by its length. The last context's counts are
// kept.
func (t *Tokenizable) EstimateTokens(ctx context.Context, encoding string) (int, error) {
	scope := tokens.ScopeOf(ctx)
	in := weak.Make(scope)
	t.mu.Lock()
	n, ok := t.counts[encoding]
	ok = ok && t.counted == in
	t.mu.Unlock()
	if ok {
		return n, nil
	}
	text, err := t.Render(ctx)
	if err != nil {
		return 0, err
	}
	if n, err = tokens.In(scope, encoding, text); err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil || t.counted != in {
		t.counts, t.counted = make(map[string]int), in
	}
	t.counts[encoding] = n
	return n, nil
}

// StaticText is the text of content that never changes by itself: a string, or a static Tokenizable.
func StaticText(content any) (text string, ok bool) {
	switch c := content.(type) {
	case string:
		return c, true
	case *Tokenizable:
		if !c.Dynamic() {
			return c.String(), true
		}
	}
	return "", false
}

// renderable returns the error of a dynamic text that cannot be rendered.
func renderable(content any) error {
	if t, ok := content.(*Tokenizable); ok && t != nil {
		_, err := t.Render(context.Background())
		return err
	}
	return nil
}
