package provider

import (
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/grammar"
	"github.com/turncore/turncore/runtime/markup"
)

// inText is how calls stand in texts: written as package grammar says, read by package markup.
type inText struct{}

// Formats implements chat.Local.
func (inText) Formats() []string { return grammar.Formats() }

// AppendCalls implements chat.Local.
func (inText) AppendCalls(dst []byte, format string, calls []chat.UnitCall) []byte {
	open, comma, end, write := grammar.Writer(format)
	dst = append(dst, open...)
	for i, c := range calls {
		if i > 0 {
			dst = append(dst, comma...)
		}
		dst = write(dst, c.Name, c.Args)
	}
	return append(dst, end...)
}

// CallGrammar implements chat.Local.
func (inText) CallGrammar(tools []chat.Tool, format string, text bool) (string, error) {
	list := make([]grammar.Tool, len(tools))
	for i, t := range tools {
		list[i] = grammar.Tool{Name: t.Name, Schema: t.InputSchema}
	}
	g, err := grammar.Calls(list, grammar.CallOptions{Format: format, Text: text, Many: true})
	if err != nil {
		return "", err
	}
	return g.Text, nil
}

// SchemaGrammar implements chat.Local.
func (inText) SchemaGrammar(schema []byte) (string, error) {
	g, err := grammar.Schema(schema, "answer")
	if err != nil {
		return "", err
	}
	return g.Text, nil
}

// Reader implements chat.Local.
func (inText) Reader(format string, names []string) chat.TextReader {
	formats := markup.Auto
	if named, ok := markup.Named(format); ok {
		formats = named | markup.Reasoning
	}
	return &textReader{reader: markup.New(markup.Options{Formats: formats, Tools: names})}
}

// textReader shows a reader of markup to the chat executor.
type textReader struct {
	reader *markup.Reader
	emit   func(chat.TextPiece)
	take   func(markup.Piece) // made once
}

func (r *textReader) piece(p markup.Piece) {
	r.emit(chat.TextPiece{Thought: p.Kind == markup.Thought, Text: p.Text, Recall: p.N})
}

func (r *textReader) to(emit func(chat.TextPiece)) func(markup.Piece) {
	if r.emit = emit; r.take == nil {
		r.take = r.piece
	}
	return r.take
}

// Write implements chat.TextReader.
func (r *textReader) Write(delta []byte, emit func(chat.TextPiece)) {
	r.reader.Write(delta, r.to(emit))
}

// End implements chat.TextReader. Calls beyond markup.MaxCalls are dropped.
func (r *textReader) End(emit func(chat.TextPiece)) []chat.TextCall {
	var list []chat.TextCall
	for _, c := range r.reader.End(r.to(emit)).Calls {
		list = append(list, chat.TextCall{Name: c.Name, Args: c.Arguments, Defect: c.Defect.String(), Raw: c.Raw})
	}
	return list
}
