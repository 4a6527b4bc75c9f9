package native_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/framing"
)

// lines is a provider: a request is a JSON object, an answer a JSON object in each line.
type lines struct{}

func (lines) Protocol() chat.Protocol {
	return chat.Protocol{
		Name: "lines", BaseURL: "http://localhost:9000", Format: framing.JSONLines,
		Members:  []chat.Member{{Name: "heat", Shape: chat.ShapeNumber, Bounded: true, Min: 0, Max: 1}},
		Reserved: []string{"model", "rules", "tools", "turns"}, Close: "]}",
	}
}

func (lines) Path(string, bool) string { return "/generate" }

func (lines) AppendTool(dst []byte, t *runtime.Tool, extras []byte) []byte {
	dst = chat.AppendMember(append(dst, '{'), "name", []byte(t.Name))
	dst = chat.AppendMember(dst, "about", []byte(t.Description))
	if text, err := value.AppendJSON(nil, t.InputSchema); err == nil {
		dst = append(append(dst, `,"schema":`...), text...)
	}
	return append(append(dst, extras...), '}')
}

func (lines) AppendHead(dst []byte, h *chat.Head) []byte {
	dst = chat.AppendMember(append(dst, '{'), "model", []byte(h.Model))
	dst = chat.AppendMember(append(dst, h.Members...), "rules", h.System)
	if len(h.Tools) > 0 {
		dst = append(append(append(dst, `,"tools":[`...), h.Tools...), ']')
	}
	return append(dst, `,"turns":[`...)
}

func (lines) AppendUnit(dst []byte, u *chat.Unit) []byte {
	who := "user"
	if u.Assistant {
		who = "model"
	}
	dst = chat.AppendMember(append(chat.AppendComma(dst), '{'), "who", []byte(who))
	dst = append(chat.AppendMember(dst, "says", u.Text), '}')
	for _, c := range u.Calls {
		dst = chat.AppendMember(append(dst, `,{"who":"model"`...), "calls", c.Name)
		dst = append(append(append(chat.AppendMember(dst, "id", c.ID), `,"with":`...), c.Args...), '}')
	}
	for _, c := range u.Calls {
		dst = chat.AppendMember(append(dst, `,{"who":"tool"`...), "id", c.ID)
		dst = append(chat.AppendMember(dst, "says", c.Result), '}')
	}
	return dst
}

func (lines) Read(a *chat.Answer, _ []byte, s *value.Scanner) {
	c := a.NewCall()
	for key := range s.Members() {
		switch string(key) {
		case "say":
			text, _ := s.Text()
			a.Text(text)
		case "call":
			c.Name, _ = s.AppendText(c.Name)
		case "id":
			c.ID, _ = s.AppendText(c.ID)
		case "with":
			c.Args = append(c.Args, s.Raw()...)
		case "end":
			reason, _ := s.Text()
			a.Finish(reason, string(reason) == "stop")
		case "cost":
			a.Usage(s)
		case "error":
			a.Fail(s)
		}
	}
	if len(c.Name) > 0 {
		a.Call(c)
	}
}

func (lines) Usage(cost []byte) chat.Usage {
	return chat.Usage{Prompt: chat.Count(cost, "in"), Completion: chat.Count(cost, "out"), Total: -1, Cached: -1}
}

// A protocol of one's own.
func ExampleNew() {
	// Stands in for the API: it asks for the tool, then says what came of it.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"who":"tool"`) {
			fmt.Fprint(w, `{"say":"It is "}`+"\n"+`{"say":"4 degrees.","end":"stop","cost":{"in":9,"out":5}}`+"\n")
		} else {
			fmt.Fprint(w, `{"call":"weather","id":"1","with":{"city":"Oslo"}}`+"\n"+`{"end":"call"}`+"\n")
		}
	}))
	defer server.Close()
	weather := &turns.Tool{
		Name: "weather", Description: "Tells the weather.", InputSchema: `{"type":"object"}`,
		Handler: func(_ *turns.DispatchContext, args turns.Args) (any, error) {
			return "4 degrees in " + args.String("city"), nil
		},
	}
	ctx := context.Background()
	runner, err := turns.New(ctx, turns.Config{
		Engine: native.New(lines{}),
		Model:  turns.Model{Name: "m", Provider: "lines", BaseURL: server.URL, Options: map[string]any{"heat": 0.5}},
		Tools:  []*turns.Tool{weather},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer runner.Close()
	result, err := runner.Run(ctx, turns.Input{Message: "How is the weather in Oslo?"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Status, result.ToolCalls[0].Results, result.Text, result.Usage)
	// Output: ack 4 degrees in Oslo It is 4 degrees. {9 5 14}
}
