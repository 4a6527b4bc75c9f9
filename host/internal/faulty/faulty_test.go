package faulty

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

const request = `{"model":"m","messages":[{"role":"user","content":"Hi!"}]}`

func serve(t *testing.T) *Server {
	t.Helper()
	s, err := Serve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// silent are the cases that do not end by themselves.
var silent = []string{"head-silent", "head-half", "stall-mid"}

// ask sends a request of a case and returns the body, and what was wrong with the head or the body. It waits long for a
// case that ends by itself, since the machine may be busy.
func ask(t *testing.T, s *Server, name, body string) (text string, head, tail error) {
	t.Helper()
	patience := time.Minute
	if slices.Contains(silent, name) {
		patience = time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.Replace(s.byName[name].BaseURL, "SESSION", t.Name(), 1)+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err, nil
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	return string(all), nil, err
}

// The provider goes wrong as its table says, seen by a client that knows nothing of models.
func TestServer(t *testing.T) {
	s := serve(t)
	const none, some = "none", "some"
	for _, tt := range []struct{ name, head, tail, body string }{
		{"good", none, none, Good},
		{"refused", some, none, ""},
		{"head-reset", some, none, ""},
		{"head-close", some, none, ""},
		{"head-half-close", some, none, ""},
		{"head-garbage", some, none, ""},
		{"head-silent", some, none, ""},
		{"head-half", some, none, ""},
		{"head-drip", none, none, "Slow."},
		{"head-early", none, none, "Hints."},
		{"bad-chunk", none, some, "Hel"},
		{"length-too-large", none, some, "Hel"},
		{"until-close", none, none, "Old."},
		{"gzip", none, none, "lo."},
		{"gzip-split", none, none, "lo."},
		{"gzip-silent", none, none, "\x1f\x8b"},
		{"gzip-of-nothing", none, some, ""},
		{"newline-crlf", none, none, "\r\n\r\n"},
		{"newline-cr-bom", none, none, "\ufeffdata: "},
		{"utf8-split", none, none, "é😀"},
		{"calls-200", none, none, `"index":199`},
		{"cut-reset-0030", none, some, `data: {"choices":[{"index":0,"`},
		{"cut-close-0030", none, some, `data: {"choices":[{"index":0,"`},
		{"cut-end-0030", none, none, `data: {"choices":[{"index":0,"`},
		{"stall-mid", none, some, "Hel"},
	} {
		text, head, tail := ask(t, s, tt.name, request)
		if (head != nil) != (tt.head == some) || (tail != nil) != (tt.tail == some) || !strings.Contains(text, tt.body) {
			t.Errorf("%s: %.100q, head %v, body %v", tt.name, text, head, tail)
		}
		want := 1
		if tt.name == "refused" {
			want = 0
		}
		if seen := s.Seen(t.Name(), tt.name); seen.Requests != want || len(seen.Problems) > 0 {
			t.Errorf("%s: seen %+v", tt.name, seen)
		}
	}
	if text, _, _ := ask(t, s, "cut-end-0030", request); !strings.Contains(text, Good) {
		t.Errorf("after the last answer: %q", text)
	}
}

// The provider says what is wrong with requests.
func TestProblems(t *testing.T) {
	messages := func(list string) string { return `{"model":"m","messages":[` + list + `]}` }
	call := `{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}`
	result := `{"role":"tool","tool_call_id":"c"}`
	for body, want := range map[string]string{
		request:                             "",
		messages(call + "," + result):       "",
		"{":                                 "no JSON",
		messages(""):                        "no messages",
		messages(result):                    "not open",
		messages(call):                      "have no answer",
		messages(call + `,{"role":"user"}`): "before the answers",
		messages(call + "," + result + "," + call + "," + result): "taken",
		messages(strings.Replace(call, `"f"`, `""`, 1)):           "without a name",
		messages(strings.Replace(call, `"{}"`, `"{"`, 1)):         "no JSON",
	} {
		if got := strings.Join(problems([]byte(body)), "; "); got != want && (want == "" || !strings.Contains(got, want)) {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
	s := serve(t)
	if _, _, err := ask(t, s, "good", "{"); err != nil {
		t.Fatal(err)
	}
	if seen := s.Seen(t.Name(), "good"); len(seen.Problems) != 1 {
		t.Errorf("seen %+v", seen)
	}
}

// Clients of other languages are told everything in JSON.
func TestCasesInJSON(t *testing.T) {
	s := serve(t)
	var list []Case
	get := func(path string, v any) {
		t.Helper()
		response, err := http.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if err := json.NewDecoder(response.Body).Decode(v); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	get("/cases", &list)
	if len(list) != len(s.Cases) || len(list) < 700 {
		t.Errorf("%d cases of %d", len(list), len(s.Cases))
	}
	for _, c := range list {
		if !slices.Contains([]string{"ack", "nack", "aborted"}, c.Expect.Status) || (c.Expect.Status == "nack") != (c.Expect.Error != "") {
			t.Errorf("%s expects %+v", c.Name, c.Expect)
		}
		if !strings.Contains(c.BaseURL, "/SESSION/"+c.Name+"/") || c.About == "" {
			t.Errorf("%s: %+v", c.Name, c)
		}
	}
	arrived := make(chan error, 1)
	go func() {
		response, err := http.Get(s.URL + "/" + t.Name() + "/good/arrived")
		if err == nil {
			err = response.Body.Close()
		}
		arrived <- err
	}()
	if _, _, err := ask(t, s, "good", request); err != nil {
		t.Fatal(err)
	}
	if err := <-arrived; err != nil {
		t.Error(err)
	}
	var seen Seen
	if get("/"+t.Name()+"/good/seen", &seen); seen.Requests != 1 {
		t.Errorf("seen %+v", seen)
	}
	for _, path := range []string{"/", "/a/b", "/a/nothing/seen", "/a/good/other"} {
		response, err := http.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d, %v", path, response.StatusCode, err)
		}
	}
}

// What a cut leaves of the text, worked out by hand.
func TestCuts(t *testing.T) {
	f := Fault{
		Name: "c", Cut: "end", Answers: []Answer{{Body: []Part{{Raw: "ab\n\n"}, {Say: "x"}, {Done: true}}, cut: -1}},
		Expect: Expect{Status: "ack", Text: "x", Requests: 1},
	}
	pieces, err := f.Answers[0].pieces()
	if err != nil {
		t.Fatal(err)
	}
	whole := len(pieces[0].bytes) + len(pieces[1].bytes)
	for _, tt := range []struct {
		n      int
		proper bool
		text   string
		over   bool
	}{
		{0, false, "", false},
		{whole - 1, false, "", false},
		{whole, false, "x", false},
		{whole - 2, true, "x", false},
		{whole - 3, true, "", false},
		{whole + len("data: [DONE]"), true, "x", true},
		{whole + len("data: [DONE]\n"), false, "x", false},
	} {
		if text, over := shown(pieces, tt.n, tt.proper); text != tt.text || over != tt.over {
			t.Errorf("%+v: %q, %v", tt, text, over)
		}
	}
	list, err := f.cuts(Case{Expect: f.Expect})
	if err != nil || len(list) != whole+len("data: [DONE]\n\n") {
		t.Errorf("%d cases, %v", len(list), err)
	}
}

func TestTableMistakes(t *testing.T) {
	twice := []Fault{{Name: "a"}, {Name: "a"}}
	if _, err := cases(twice); err == nil {
		t.Error("a name twice")
	}
	if _, err := cases([]Fault{{Name: "a", Answers: []Answer{{Body: []Part{{}}}}}}); err == nil {
		t.Error("a part of nothing")
	}
	var d Delta
	if err := decode([]byte(`{"arguments":"{}"}`), &d); err == nil {
		t.Error("a member that a delta does not have")
	}
	if got := fill("<<#>>:<<ab*3>>", 7); got != "7:ababab" {
		t.Error(got)
	}
}

// Whoever does not close a connection that holds is told of.
func TestConnectionsThatStay(t *testing.T) {
	s := serve(t)
	s.patience = 50 * time.Millisecond
	response, err := http.Post(strings.Replace(s.byName["stall-mid"].BaseURL, "SESSION", "stays", 1)+"/chat/completions", "application/json", strings.NewReader(request))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if seen := s.Seen("stays", "stall-mid"); len(seen.Problems) != 1 || !strings.Contains(seen.Problems[0], "did not close") {
		t.Errorf("seen %+v", seen)
	}
	if _, err := io.ReadAll(response.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the body ends with %v", err)
	}
}
