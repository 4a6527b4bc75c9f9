// Package simulated is a model provider that needs no network and no key: an http.Handler that speaks OpenAI's chat
// completions and answers by simple rules. It calls a tool that the user's text mentions, with arguments found in
// that text, reports a tool's answer, and otherwise repeats the text. The same request gets the same answer. Commands
// and demos use it without a real provider; its twin in the npm package follows the same rules.
package simulated

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Model is the model's name in answers to requests without one.
const Model = "simulated"

// Provider answers POST requests whose path ends in /chat/completions. The zero value answers as fast as it can.
type Provider struct {
	// Pause between two parts of a streamed answer.
	Pause time.Duration
}

type request struct {
	Model    string    `json:"model"`
	Stream   bool      `json:"stream"`
	Messages []message `json:"messages"`
	Tools    []tool    `json:"tools"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type tool struct {
	Function struct {
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// text returns the text of a message's content: a string, or the text parts of a list.
func (m message) text() string {
	var s string
	if json.Unmarshal(m.Content, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(m.Content, &parts) // anything else has no text
	for _, p := range parts {
		s += p.Text
	}
	return s
}

// answer is the provider's answer to a request.
type answer struct {
	thought string
	text    string
	tool    string // to call; empty for none
	args    string // JSON text
}

// unmarked is a tool's result without its marks, which are separate lines.
func unmarked(text string) string {
	open, rest, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(open, "<untrusted_content_") && !strings.HasPrefix(open, "<trusted_content_") {
		return text
	}
	return rest[:max(strings.LastIndexByte(rest, '\n'), 0)]
}

// answerTo decides by the rules of this package.
func answerTo(r *request) answer {
	if len(r.Messages) == 0 {
		return answer{text: "There is no message to answer."}
	}
	last := r.Messages[len(r.Messages)-1]
	if last.Role == "tool" {
		first := len(r.Messages)
		for first > 0 && r.Messages[first-1].Role == "tool" {
			first--
		}
		var results []string
		for _, m := range r.Messages[first:] {
			results = append(results, unmarked(m.text()))
		}
		if len(results) == 1 {
			return answer{text: "The tool answered: " + results[0]}
		}
		return answer{text: "The tools answered: " + strings.Join(results, "; ")}
	}
	text := last.text()
	var names []string
	for _, t := range r.Tools {
		if mentions(text, t.Function.Name) {
			return answer{
				thought: "The text mentions " + t.Function.Name + ", so I call it.",
				tool:    t.Function.Name,
				args:    arguments(text, t.Function.Parameters),
			}
		}
		names = append(names, t.Function.Name)
	}
	reply := "You said: " + text
	if len(names) > 0 {
		reply += "\n\nI can also use tools: " + strings.Join(names, ", ") + ". Mention one and I call it."
	}
	return answer{text: reply}
}

// mentions reports whether a text mentions a tool: by the tool's name, or by a word of the name with four letters or
// more.
func mentions(text, name string) bool {
	text = strings.ToLower(text)
	for _, word := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '_' || r == '-' || r == ' ' }) {
		if len(word) >= 4 && strings.Contains(text, word) {
			return true
		}
	}
	return name != "" && strings.Contains(text, strings.ToLower(name))
}

// ServeHTTP implements http.Handler.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		refuse(w, http.StatusNotFound, "the simulated provider answers POST …/chat/completions")
		return
	}
	var req request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 32<<20)).Decode(&req); err != nil {
		refuse(w, http.StatusBadRequest, "the request is no JSON: "+err.Error())
		return
	}
	req.Model = cmp.Or(req.Model, Model)
	a := answerTo(&req)
	if !req.Stream {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(a.whole(&req)) // the client has gone if this fails
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	flusher, _ := w.(http.Flusher)
	for _, chunk := range a.chunks(&req) {
		if _, err := fmt.Fprintf(w, "data: %s\n\n", chunk); err != nil {
			return
		}
		if flusher != nil {
			flusher.Flush()
		}
		if p.Pause > 0 {
			select {
			case <-r.Context().Done():
				return
			case <-time.After(p.Pause):
			}
		}
	}
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "code": status}})
}
