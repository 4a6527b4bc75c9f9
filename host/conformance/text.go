package conformance

import (
	"context"
	"errors"
	"strings"

	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// tokenizers makes tokenizers that write to the log and run their scripts. They count words unless a script returns a
// value.
func (g *game) tokenizers(scripts map[string]Script) map[string]record.Tokenizer {
	all := map[string]record.Tokenizer{}
	for name, script := range scripts {
		all[name] = func(texts []string) ([]int, error) {
			g.write(Line{"tokenizer": name, "texts": texts})
			f := g.frame("tokenizer "+name, nil)
			if err := f.run(script); err != nil {
				return nil, err
			}
			var counts []int
			if f.result == nil {
				for _, text := range texts {
					counts = append(counts, len(strings.Fields(text)))
				}
				return counts, nil
			}
			for _, n := range list(f.result) {
				counts = append(counts, int(n.(float64)))
			}
			return counts, nil
		}
	}
	return all
}

// text returns the text of a name: one object for each name.
func (g *game) text(name string) *record.Tokenizable {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.texts[name]
	if t == nil {
		spec, there := g.scenario.Texts[name]
		if !there {
			panic(malformed("there is no text %q", name))
		}
		t = record.NewTokenizable("")
		g.fill(t, name, spec)
		g.texts[name] = t
	}
	return t
}

// fill sets the content of a text.
func (g *game) fill(t *record.Tokenizable, name string, spec TextSpec) {
	if spec.Dynamic == nil {
		t.Set(spec.Static)
		return
	}
	t.SetDynamic(func(reading context.Context) (string, error) {
		script := spec.Dynamic
		var ctx turns.Context
		if d, ok := reading.(*turns.DispatchContext); ok {
			ctx = d
		} else if spec.Alone != nil {
			script = spec.Alone
		}
		f := g.frame("text "+name, ctx)
		if err := f.run(script); err != nil {
			return "", err
		}
		text, ok := f.result.(string)
		if !ok {
			return "", errors.New("it returned no text")
		}
		return text, nil
	})
}

// reading is the context for reading a text: the function's, unless the argument asks for none.
func (f *frame) reading(a *fields) context.Context {
	if a.truth("alone") {
		return context.Background()
	}
	return f.inDispatch()
}

func estimate(f *frame, arg any) (any, error) {
	a := fieldsOf(arg)
	defer a.end()
	encoding := a.str("encoding", "")
	if name, there := a.take("text"); there {
		return f.game.text(str(name)).EstimateTokens(f.reading(a), encoding)
	}
	counts, err := f.inTurn().EstimateTokens(encoding, strs(a.any("texts"))...)
	return anyList(counts), err
}

func render(f *frame, arg any) (any, error) {
	a := fieldsOf(arg)
	defer a.end()
	return f.game.text(a.str("text", "")).Render(f.reading(a))
}

func setText(f *frame, arg any) (any, error) {
	a := fieldsOf(arg)
	defer a.end()
	name := a.str("text", "")
	spec := TextSpec{Static: a.str("static", "")}
	if script, there := a.take("dynamic"); there {
		spec.Dynamic = scriptOf(script)
	}
	t := f.game.text(name)
	f.game.fill(t, name, spec)
	return t.Dynamic(), nil
}
