package turns

import (
	"context"
	"errors"
	"sync"
	"weak"

	"github.com/turncore/turncore/abi"
)

// TextEvaluator gives the text of a dynamic Tokenizable. It is called at every read, and must do without a context: d is
// nil when the reader has none.
type TextEvaluator func(d *DispatchContext) (string, error)

// Tokenizable is a piece of text for a model, static or dynamic. ToolCall.Results and Retrievable.Content may hold one in
// place of a string; messages, memories and thoughts have a field for one beside Content. Other fields that are strings take
// what Render returns. Its methods may be called from any goroutine. Set
// and SetDynamic change what is read from then on, and nothing that the module has already.
type Tokenizable struct {
	mu       sync.Mutex
	text     string
	evaluate TextEvaluator // nil for a static one
	// counts are tokens by encoding, as the text reads in a context.
	counts  map[string]int
	counted weak.Pointer[DispatchContext]
}

// NewTokenizable returns a static text, which may be empty.
func NewTokenizable(text string) *Tokenizable { return &Tokenizable{text: text} }

// NewDynamicTokenizable returns a text that is what evaluate gives at each read.
func NewDynamicTokenizable(evaluate TextEvaluator) *Tokenizable {
	t := &Tokenizable{}
	t.SetDynamic(evaluate)
	return t
}

// Set makes it a static text, and forgets what was counted.
func (t *Tokenizable) Set(text string) { t.set(text, nil) }

// SetDynamic makes it what evaluate gives at each read, and forgets what was counted.
func (t *Tokenizable) SetDynamic(evaluate TextEvaluator) {
	if evaluate == nil {
		evaluate = func(*DispatchContext) (string, error) { return "", errors.New("there is no evaluator") }
	}
	t.set("", evaluate)
}

func (t *Tokenizable) set(text string, evaluate TextEvaluator) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text, t.evaluate, t.counts = text, evaluate, nil
}

// Dynamic tells whether a function gives the text.
func (t *Tokenizable) Dynamic() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.evaluate != nil
}

// Render returns the text, for the context of a dispatch unless d is nil. It fails with E_TOKENIZABLE_EVALUATOR_INVALID
// when the evaluator failed or panicked; its error is the cause then.
func (t *Tokenizable) Render(d *DispatchContext) (text string, err error) {
	t.mu.Lock()
	text, evaluate := t.text, t.evaluate
	t.mu.Unlock()
	if evaluate == nil {
		return text, nil
	}
	defer func() {
		if v := recover(); v != nil {
			text, err = "", evaluatorFailed(caught(v))
		}
	}()
	if text, err = evaluate(d); err != nil {
		return "", evaluatorFailed(err)
	}
	return text, nil
}

func evaluatorFailed(err error) error {
	return newError(abi.CodeTokenizableEvaluatorInvalid, err.Error(), err)
}

// String is the text without a context; it is empty when there is none because the evaluator failed.
func (t *Tokenizable) String() string {
	text, _ := t.Render(nil)
	return text
}

// MarshalText returns the text without a context, so that JSON shows it as a string.
func (t *Tokenizable) MarshalText() ([]byte, error) {
	text, err := t.Render(nil)
	return []byte(text), err
}

// EstimateTokens estimates how many tokens the text has in an encoding, as it reads for d: see
// DispatchContext.EstimateTokens. Without a context it is estimated by its length. The last context's counts are kept.
func (t *Tokenizable) EstimateTokens(encoding string, d *DispatchContext) (int, error) {
	var in weak.Pointer[DispatchContext]
	var ctx context.Context = context.Background()
	if d != nil {
		in, ctx = weak.Make(d), d
	}
	t.mu.Lock()
	n, ok := t.counts[encoding]
	ok = ok && t.counted == in
	t.mu.Unlock()
	if ok {
		return n, nil
	}
	text, err := t.Render(d)
	if err != nil {
		return 0, err
	}
	if n, err = estimateIn(ctx, encoding, text); err != nil {
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

// staticText is the text of content that never changes by itself: a string, or a static Tokenizable.
func staticText(content any) (text string, ok bool) {
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
		_, err := t.Render(nil)
		return err
	}
	return nil
}
