package faulty

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Good is the text of the answer that the provider gives when nothing goes wrong.
const Good = "All is well."

// good is the answer that the provider gives when nothing goes wrong.
var good = Answer{Body: []Part{{Say: Good}, {Finish: "stop"}, {Done: true}}, cut: -1}

// piece is a part of a body as it is written.
type piece struct {
	bytes []byte
	pause time.Duration // before it
	says  string        // the text in it
	ends  bool          // the answer is whole when this has come
}

// pieces makes the bytes of a body, without what the answer's encoding does to them.
func (a *Answer) pieces() ([]piece, error) {
	var list []piece
	for _, part := range a.Body {
		for n := range max(part.Times, 1) {
			text, err := part.text()
			if err != nil {
				return nil, err
			}
			text = fill(text, n)
			if a.Newline != "" {
				text = strings.ReplaceAll(text, "\n", a.Newline)
			}
			list = append(list, piece{
				bytes: []byte(text), pause: time.Duration(part.Pause) * time.Millisecond, says: part.Say,
				ends: part.Done || part.Finish != "",
			})
		}
	}
	if a.BOM {
		list = append([]piece{{bytes: []byte("\ufeff")}}, list...)
	}
	return list, nil
}

// text is what a part puts into the body.
func (p *Part) text() (string, error) {
	type choice struct {
		Index  int               `json:"index"`
		Delta  map[string]any    `json:"delta"`
		Finish string            `json:"finish_reason,omitempty"`
		_      map[string]string // no literals without names
	}
	chunk := func(delta map[string]any, finish string) (string, error) {
		var out bytes.Buffer
		to := json.NewEncoder(&out)
		to.SetEscapeHTML(false)
		err := to.Encode(map[string]any{"choices": []choice{{Delta: delta, Finish: finish}}})
		return "data: " + out.String() + "\n", err
	}
	switch {
	case p.Say != "":
		return chunk(map[string]any{"content": p.Say}, "")
	case p.Think != "":
		return chunk(map[string]any{"reasoning": p.Think}, "")
	case p.Call != nil:
		return chunk(map[string]any{"tool_calls": []any{p.Call.wire()}}, "")
	case p.Finish != "":
		return chunk(map[string]any{}, p.Finish)
	case p.Done:
		return "data: [DONE]\n\n", nil
	case p.Chunk != nil:
		var out bytes.Buffer
		err := json.Compact(&out, p.Chunk)
		return "data: " + out.String() + "\n\n", err
	case p.Data != "":
		return "data: " + p.Data + "\n\n", nil
	case p.Hex != "":
		text, err := hex.DecodeString(strings.ReplaceAll(p.Hex, " ", ""))
		return string(text), err
	case p.Raw != "":
		return p.Raw, nil
	case p.Pause > 0:
		return "", nil
	}
	return "", errors.New("a part without content")
}

func (d *Delta) wire() any {
	type function struct {
		Arguments *string `json:"arguments,omitempty"`
		Name      *string `json:"name,omitempty"`
	}
	return struct {
		Function function `json:"function"`
		ID       *string  `json:"id,omitempty"`
		Index    *int     `json:"index,omitempty"`
		Type     string   `json:"type"`
	}{function{d.Args, d.Name}, d.ID, d.Index, "function"}
}

var filling = regexp.MustCompile(`<<([^<>]+?)\*(\d+)>>`)

// fill puts in what <<…>> stands for.
func fill(text string, n int) string {
	text = strings.ReplaceAll(text, "<<#>>", strconv.Itoa(n))
	return filling.ReplaceAllStringFunc(text, func(s string) string {
		m := filling.FindStringSubmatch(s)
		times, _ := strconv.Atoi(m[2]) // digits, few of them
		return strings.Repeat(m[1], times)
	})
}

// body makes the pieces as they go over the wire: cut, encoded, and split.
func (a *Answer) body() ([]piece, error) {
	list, err := a.pieces()
	if err != nil {
		return nil, err
	}
	if a.cut >= 0 {
		left := a.cut
		for i := range list {
			list[i].bytes = list[i].bytes[:min(left, len(list[i].bytes))]
			left -= len(list[i].bytes)
		}
	}
	if a.Gzip != "" {
		if list, err = compress(list); err != nil {
			return nil, err
		}
	}
	var split []piece
	for _, p := range list {
		step := len(p.bytes)
		if a.Split > 0 {
			step = a.Split
		}
		for first := true; first || len(p.bytes) > 0; first = false {
			n := min(step, len(p.bytes))
			if n > 0 || p.pause > 0 {
				split = append(split, piece{bytes: p.bytes[:n], pause: p.pause})
			}
			p.bytes, p.pause = p.bytes[n:], 0
		}
	}
	return split, nil
}

// compress makes one gzip stream of the pieces, so that each piece can be read as soon as it has come.
func compress(list []piece) ([]piece, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	take := func() []byte {
		b := bytes.Clone(out.Bytes())
		out.Reset()
		return b
	}
	var packed []piece
	for _, p := range list {
		if _, err := w.Write(p.bytes); err != nil {
			return nil, err
		}
		if err := w.Flush(); err != nil {
			return nil, err
		}
		packed = append(packed, piece{bytes: take(), pause: p.pause})
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return append(packed, piece{bytes: take()}), nil
}

// head makes the head of an answer whose body has so many bytes.
func (a *Answer) head(size int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d Status\r\n", cmp.Or(a.Status, 200))
	// No connection is used twice. Some clients take what came over one that was to be closed for whole, though, so one
	// that breaks says nothing of it unless the answer does.
	if a.After != "reset" && a.After != "close" {
		b.WriteString("Connection: close\r\n")
	}
	kind := "text/event-stream"
	if a.Type != nil {
		kind = *a.Type
	}
	if kind != "" {
		fmt.Fprintf(&b, "Content-Type: %s\r\n", kind)
	}
	if a.Gzip == "told" {
		b.WriteString("Content-Encoding: gzip\r\n")
	}
	switch a.Framing {
	case "", "chunked":
		b.WriteString("Transfer-Encoding: chunked\r\n")
	case "length":
		if a.Length > 0 {
			size = a.Length
		}
		fmt.Fprintf(&b, "Content-Length: %d\r\n", size)
	}
	for name, value := range a.Headers {
		fmt.Fprintf(&b, "%s: %s\r\n", name, value)
	}
	return b.String() + "\r\n"
}
