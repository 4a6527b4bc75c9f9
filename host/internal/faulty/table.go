package faulty

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
)

//go:embed testdata/*.json
var files embed.FS

// Fault is an entry of the table.
//
// One with Cut stands for a case for each byte of the first answer's body, from none to all but the last: the body ends
// before it. Expect is then that of the whole body. Before the first text was complete a case expects that the request
// is made again and gets the good answer; after the end mark what Expect says; in between the text of the parts that
// came whole, broken off, and E_CHAT_STREAM_ERROR.
type Fault struct {
	Name    string         `json:"name"`
	About   string         `json:"about"`
	Options map[string]any `json:"options"`
	Answers []Answer       `json:"answers"`
	Cut     string         `json:"cut"`
	Abort   string         `json:"abort"`
	Refused bool           `json:"refused"`
	Expect  Expect         `json:"expect"`
}

// Expect is what a turn must come to.
type Expect struct {
	Status   string   `json:"status"`             // of the turn: ack, nack, aborted
	Error    string   `json:"error,omitempty"`    // code of the turn's error
	Says     []string `json:"says,omitempty"`     // parts of the error's message
	Text     string   `json:"text,omitempty"`     // all that was shown as message text, in order
	Size     int      `json:"size,omitempty"`     // its length in the place of a text that is long
	Thoughts string   `json:"thoughts,omitempty"` // all that was shown as reasoning
	// Interrupted: the streams that were shown last were broken off, and say so; no other one does.
	Interrupted bool     `json:"interrupted,omitempty"`
	Calls       []Call   `json:"calls,omitempty"` // tool calls that were reported complete, in order
	Requests    int      `json:"requests"`        // that the provider got
	Stored      Stored   `json:"stored"`
	Logs        []string `json:"logs,omitempty"` // kinds of the lines of the log from level info up, in order
}

// Call is a tool call, or several equal ones in a row.
type Call struct {
	Tool   string `json:"tool"`
	Result string `json:"result"` // a part of it
	Error  bool   `json:"error,omitempty"`
	Times  int    `json:"times,omitempty"` // 0 for once
}

// Stored says how many records of the model's are in the session after the turn.
type Stored struct {
	Messages  int `json:"messages,omitempty"`
	Thoughts  int `json:"thoughts,omitempty"`
	ToolCalls int `json:"toolCalls,omitempty"`
}

// Answer is what the provider answers to a request.
type Answer struct {
	Status  int               `json:"status"`  // 0 for 200
	Type    *string           `json:"type"`    // content type, "" for none; absent for text/event-stream
	Headers map[string]string `json:"headers"` // more of them
	Framing string            `json:"framing"` // "chunked" if absent, "length", "close" for a body that ends with the connection
	Length  int               `json:"length"`  // content length that is told, 0 for the true one
	Newline string            `json:"newline"` // takes the place of each LF of the body
	BOM     bool              `json:"bom"`     // a byte order mark before the body
	Gzip    string            `json:"gzip"`    // "told" with a content encoding, "silent" without
	Split   int               `json:"split"`   // bytes that are written at once; 0 for a part of the body at a time
	Body    []Part            `json:"body"`

	// Before takes the place of the head, or comes before it: "reset", "close", "silent" (nothing ever comes), "half" (of
	// the head, then nothing), "half-close", "garbage", "drip" (slow, but whole), "early" (103 before the status).
	Before string `json:"before"`
	// After takes the place of the body's end: "reset", "close" (in the middle of a chunk), "hold" (nothing more comes),
	// "ping" (nothing but comments comes), "bad-chunk" (its length is no number).
	After string `json:"after"`

	cut int // bytes of the body before After or the end; -1 for all
}

// Part is a part of a body. Exactly one of Say, Think, Call, Finish, Done, Chunk, Data, Raw, Hex and Pause is set. In
// all texts <<TEXT*N>> stands for N times TEXT, and <<#>> for the number of the repetition from 0.
type Part struct {
	Say    string          `json:"say"`    // a chunk with text
	Think  string          `json:"think"`  // a chunk with reasoning
	Call   *Delta          `json:"call"`   // a chunk with a part of a tool call
	Finish string          `json:"finish"` // a chunk with this finish reason
	Done   bool            `json:"done"`   // [DONE]
	Chunk  json.RawMessage `json:"chunk"`  // an event with this JSON
	Data   string          `json:"data"`   // an event with this text
	Raw    string          `json:"raw"`    // this text
	Hex    string          `json:"hex"`    // these bytes
	Pause  int             `json:"pause"`  // nothing, for so many ms
	Times  int             `json:"times"`  // how often, 0 for once
}

// Delta is a part of a tool call in a chunk. What is absent is left out.
type Delta struct {
	Index *int    `json:"index"`
	ID    *string `json:"id"`
	Name  *string `json:"name"`
	Args  *string `json:"args"`
}

// load reads the table.
func load() ([]Fault, error) {
	names, err := files.ReadDir("testdata")
	if err != nil {
		return nil, err
	}
	var faults []Fault
	for _, name := range names {
		text, err := files.ReadFile(path.Join("testdata", name.Name()))
		if err != nil {
			return nil, err
		}
		var file struct {
			About  string
			Faults []Fault
		}
		if err := decode(text, &file); err != nil {
			return nil, fmt.Errorf("faulty: %s: %w", name.Name(), err)
		}
		faults = append(faults, file.Faults...)
	}
	return faults, nil
}

// decode reads JSON of members that are known.
func decode(text []byte, v any) error {
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	return in.Decode(v)
}

// Case is a turn to run, and what must come of it.
type Case struct {
	Name  string `json:"name"`
	About string `json:"about"`
	// BaseURL is where the chat executor finds the provider. SESSION in it stands for a word of the caller's choice, which
	// keeps runs of the same case apart.
	BaseURL string         `json:"baseURL"`
	Options map[string]any `json:"options"`
	Abort   string         `json:"abort,omitempty"`
	Expect  Expect         `json:"expect"`
	// GoesOn says that a further turn of the session gets the good answer. It is left out where many cases are alike.
	GoesOn bool `json:"goesOn,omitempty"`

	answers []Answer
	refused bool
}

// cases expands the table: a fault that is about every byte becomes a case for each.
func cases(faults []Fault) ([]*Case, error) {
	var list []*Case
	seen := map[string]bool{}
	for _, f := range faults {
		if seen[f.Name] {
			return nil, fmt.Errorf("faulty: %s is in the table twice", f.Name)
		}
		seen[f.Name] = true
		for i := range f.Expect.Calls {
			f.Expect.Calls[i].Tool = fill(f.Expect.Calls[i].Tool, 0)
		}
		for i := range f.Answers {
			f.Answers[i].cut = -1
			if _, err := f.Answers[i].pieces(); err != nil {
				return nil, fmt.Errorf("faulty: %s: %w", f.Name, err)
			}
		}
		c := Case{
			Name: f.Name, About: f.About, Options: f.options(), Abort: f.Abort, Expect: f.Expect,
			answers: f.Answers, refused: f.Refused,
		}
		if f.Cut == "" {
			c.GoesOn = !f.Refused
			list = append(list, &c)
			continue
		}
		more, err := f.cuts(c)
		if err != nil {
			return nil, fmt.Errorf("faulty: %s: %w", f.Name, err)
		}
		list = append(list, more...)
	}
	return list, nil
}

// options are the chat executor's for a case. Retries come at once unless the fault is about them. The idle timeout is
// the executor's own, so that no pause of a busy machine looks like a fault.
func (f *Fault) options() map[string]any {
	all := map[string]any{"retry": map[string]any{"baseDelayMs": 1, "maxDelayMs": 20}}
	maps.Copy(all, f.Options)
	return all
}

// cuts makes the cases of a fault that is about every byte of a body.
func (f *Fault) cuts(base Case) ([]*Case, error) {
	whole := f.Answers[0]
	pieces, err := whole.pieces()
	if err != nil {
		return nil, err
	}
	var list []*Case
	size := 0
	for _, p := range pieces {
		size += len(p.bytes)
	}
	for n := range size {
		c := base
		c.Name = fmt.Sprintf("%s-%04d", f.Name, n)
		answer := whole
		answer.cut = n
		if f.Cut != "end" {
			answer.After = f.Cut
		}
		c.answers = slices.Concat([]Answer{answer}, f.Answers[1:])
		text, over := shown(pieces, n, f.Cut == "end")
		switch {
		case over:
		case text == "":
			c.Expect.Requests++
			c.Expect.Text = Good
			c.Expect.Logs = []string{"retry-attempt"}
		default:
			c.Expect = Expect{Status: "nack", Error: "E_CHAT_STREAM_ERROR", Text: text, Interrupted: true, Requests: f.Expect.Requests}
		}
		list = append(list, &c)
	}
	return list, nil
}

// shown is the text that is in the first n bytes of a body, and whether they hold its end mark. Where the body ends
// properly an event needs no blank line after it.
func shown(pieces []piece, n int, proper bool) (text string, over bool) {
	for _, p := range pieces {
		size := len(p.bytes)
		if proper {
			size = len(bytes.TrimRight(p.bytes, "\r\n"))
		}
		if n < size {
			break
		}
		n -= len(p.bytes)
		text += p.says
		over = over || p.ends
	}
	return text, over
}
