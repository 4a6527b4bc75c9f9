package recording

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

func TestRecordingsAreLikeThemselves(t *testing.T) {
	requests := 0
	for _, r := range recorded(t) {
		for i, it := range r.Interactions {
			requests++
			if list := r.Compare(i, it.Request.Body); len(list) != 0 {
				t.Errorf("%s, request %d differs from itself: %v", r.Name, i, list)
			}
		}
	}
	t.Logf("%d requests", requests)
}

// TestMutations changes every single value of every recorded request: each change must be found, and none of them is
// one of those that are allowed.
func TestMutations(t *testing.T) {
	mutations := 0
	for _, r := range recorded(t) {
		for i, it := range r.Interactions {
			var body any
			if err := json.Unmarshal(it.Request.Body, &body); err != nil {
				t.Fatal(err)
			}
			mutate(body, "", func(path string) {
				text, err := json.Marshal(body)
				if err != nil {
					t.Fatal(err)
				}
				mutations++
				list := r.Compare(i, text)
				if len(list) == 0 {
					t.Errorf("%s, request %d: a change at %s is not found", r.Name, i, path)
				}
				for _, d := range list {
					if d.Why != "" && !strings.HasPrefix(path, d.Path) {
						t.Errorf("%s, request %d: a change at %s is allowed at %s", r.Name, i, path, d.Path)
					}
				}
			})
		}
	}
	if mutations < 200 {
		t.Errorf("only %d mutations", mutations)
	}
	t.Logf("%d mutations", mutations)
}

// mutate sets each value inside v to another one, calls try, and restores it.
func mutate(v any, path string, try func(path string)) {
	switch v := v.(type) {
	case map[string]any:
		for key, old := range v {
			v[key] = "something else"
			try(path + "/" + key)
			v[key] = old
			mutate(old, path+"/"+key, try)
		}
	case []any:
		for i, old := range v {
			v[i] = 17.5
			try(path + "/" + strconv.Itoa(i))
			v[i] = old
			mutate(old, path+"/"+strconv.Itoa(i), try)
		}
	}
}

func TestSameMeaning(t *testing.T) {
	r := made(t, "s", `{"model": "m", "temperature": 1, "messages": [
		{"role": "user", "content": "hello world"},
		{"role": "assistant", "content": null, "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{\"a\":1,\"b\":2}"}}]},
		{"role": "tool", "content": "x", "tool_call_id": "c"}]}`)
	const same = `{"messages": [
		{"content": [{"type": "text", "text": "hello "}, {"text": "world", "type": "text"}], "role": "user", "name": null},
		{"role": "assistant", "tool_calls": [{"function": {"arguments": "{ \"b\": 2.0, \"a\": 1 }", "name": "f"}, "id": "c"}]},
		{"role": "tool", "content": "x", "tool_call_id": "c"}], "temperature": 1.0, "model": "m", "seed": null}`
	if list := r.Compare(0, []byte(same)); len(list) != 0 {
		t.Errorf("differences %v", list)
	}
	for _, c := range []struct{ old, new, path string }{
		{`"world"`, `"World"`, "/messages/0/content"},
		{`"type": "text", "text": "hello "`, `"type": "image_url", "text": "hello "`, "/messages/0/content"},
		{`2.0`, `3`, "/messages/1/tool_calls/0/function/arguments/b"},
		{`"tool_call_id": "c"`, `"tool_call_id": "d"`, "/messages/2/tool_call_id"},
		{`"temperature": 1.0`, `"temperature": 0`, "/temperature"},
		{`"seed": null`, `"a/b~c": 1`, "/a~1b~0c"},
		{`"model": "m"`, `"model": null`, "/model"},
	} {
		list := r.Compare(0, []byte(strings.Replace(same, c.old, c.new, 1)))
		if len(list) != 1 || list[0].Path != c.path || list[0].Why != "" || list[0].Request != 0 {
			t.Errorf("%s: %v, want one at %s", c.new, list, c.path)
		}
	}
	list := r.Compare(0, []byte(strings.Replace(same, `{"role": "tool", "content": "x", "tool_call_id": "c"}`, `{"role": "tool"}, {"role": "user", "content": "y"}`, 1)))
	if len(list) != 3 || list[2].Path != "/messages/3" || list[2].Want != nil {
		t.Errorf("a message too many: %v", list)
	}
}

func TestRequestsThatCannotBeCompared(t *testing.T) {
	r := made(t, "n", `{"model": "m"}`, `"not an object"`)
	if list := r.Compare(2, []byte(`{}`)); len(list) != 1 || list[0].Why != "" || list[0].Request != 2 {
		t.Errorf("a request too many: %v", list)
	}
	if list := r.Compare(0, []byte(`{`)); len(list) != 1 || !strings.Contains(list[0].String(), "no JSON") {
		t.Errorf("a request that is not JSON: %v", list)
	}
	if list := r.Compare(1, []byte(`{"model": "m"}`)); len(list) != 1 {
		t.Errorf("an object and a string: %v", list)
	}
}

func TestAllowedDifferences(t *testing.T) {
	r := made(t, "groq-tool-use-failed", `{"messages": [
		{"role": "assistant", "content": "<think>hm</think>", "reasoning_content": "hm", "reasoning": "hm", "reasoning_details": [{"text": "hm"}],
			"tool_calls": [{"id": "pyd_ai_1", "function": {"name": "f", "arguments": "{}"}}]},
		{"role": "tool", "tool_call_id": "pyd_ai_1", "content": "2 validation errors: …"}]}`)
	const ours = `{"messages": [
		{"role": "assistant", "tool_calls": [{"id": "t.c1", "function": {"name": "f", "arguments": "{}"}}]},
		{"role": "tool", "tool_call_id": "t.c1", "content": "no such argument"}]}`
	list := r.Compare(0, []byte(ours))
	if len(list) != 6 {
		t.Errorf("%d differences: %v", len(list), list)
	}
	for _, d := range list {
		if d.Why == "" || !strings.Contains(d.String(), "(allowed: ") {
			t.Errorf("not allowed: %v", d)
		}
	}

	for name, change := range map[string][2]string{
		"text instead of the reasoning":     {`{"role": "assistant", `, `{"role": "assistant", "content": "other", `},
		"reasoning of our own":              {`{"role": "assistant", `, `{"role": "assistant", "reasoning": "other", `},
		"another tool":                      {`"name": "f"`, `"name": "g"`},
		"a result under a name of its own":  {`"role": "tool"`, `"role": "user"`},
		"arguments that were not generated": {`"{}"`, `"{\"a\": 1}"`},
	} {
		refused := 0
		for _, d := range r.Compare(0, []byte(strings.Replace(ours, change[0], change[1], 1))) {
			if d.Why == "" {
				refused++
			}
		}
		if refused == 0 {
			t.Errorf("%s: %d differences that are not allowed", name, refused)
		}
	}

	// What is allowed for one recording is not for another.
	r.Name = "other"
	refused := 0
	for _, d := range r.Compare(0, []byte(ours)) {
		if d.Why == "" {
			refused++
			if d.Path != "/messages/1/content" {
				t.Errorf("not allowed: %v", d)
			}
		}
	}
	if refused != 1 {
		t.Errorf("%d differences are not allowed, want that of the error's words", refused)
	}
}

// TestAllowancesAreReal refuses entries of the list that would allow anything anywhere, or do not say why.
func TestAllowancesAreReal(t *testing.T) {
	if len(allowances) == 0 {
		t.Fatal("the list is empty")
	}
	for _, a := range allowances {
		if a.Why == "" || a.Recording == "" || a.Path == "" || a.Got.String() == "" && a.Want.String() == "" && !a.Made {
			t.Errorf("entry %+v", a)
		}
	}
}

// TestOddValues compares requests whose ids and names are no texts.
func TestOddValues(t *testing.T) {
	for _, id := range []string{`{"a": 1}`, `[1]`, `7`, `true`, `""`} {
		body := `{"messages": [{"role": ["user"]}, {"role": "assistant", "content": {}, "tool_calls": [{"id": ` + id + `, "function": {"name": ` + id + `}}, 5]},
			{"role": "tool", "tool_call_id": ` + id + `, "name": ` + id + `}, {"role": "assistant", "tool_calls": [{"id": ` + id + `, "function": 1}]}], "tools": [1, {"function": ` + id + `}]}`
		r := made(t, "o", body)
		if list := r.Compare(0, []byte(body)); len(list) != 0 {
			t.Errorf("%s: %v", id, list)
		}
		if list := r.Compare(0, []byte(`{"messages": [{"role": "assistant", "tool_calls": [{"id": "x"}, {"id": "y"}]}, {"role": "tool", "tool_call_id": "x"}]}`)); len(list) == 0 {
			t.Errorf("%s: no difference", id)
		}
		r.Answers()
		r.Called()
		r.SendsThoughts()
		if _, err := r.Thread(); err != nil {
			t.Error(err)
		}
	}
}

// Reasoning in tags may go back or not; the text behind it is the same.
func TestReasoningInTags(t *testing.T) {
	for _, c := range []struct {
		got, want string // JSON
		allowed   bool
	}{
		{`null`, `"<think>\nso\n</think>"`, true},
		{`null`, `"<think>so"`, true},
		{`"Hi."`, `"<think></think>\n<think>so</think>\n\nHi."`, true},
		{`"Hi."`, `"<think>so</think>"`, false},
		{`"Hi"`, `"<think>so</think>Hi."`, false},
		{`"<think>so</think>Hi."`, `"Hi."`, false},
		{`"Hi."`, `"\nHi."`, false}, // no answer had reasoning in tags
	} {
		body := func(content string) string {
			return `{"messages": [{"role": "assistant", "content": ` + content + `, "tool_calls": [{"id": "c"}]}]}`
		}
		list := made(t, "t", body(c.want)).Compare(0, []byte(body(c.got)))
		if len(list) != 1 || list[0].Path != "/messages/0/content" || (list[0].Why != "") != c.allowed {
			t.Errorf("%s and %s: %v", c.got, c.want, list)
		}
	}
	r := made(t, "t", `{"messages": []}`, `{"messages": [{"role": "assistant", "content": "\n\nHi."}]}`)
	const ours = `{"messages": [{"role": "assistant", "content": "Hi."}]}`
	r.Interactions[0].Response.Body = `data: {"choices":[{"delta":{"content":"<think>so</think>\n\nHi."}}]}`
	if list := r.Compare(1, []byte(ours)); len(list) != 1 || list[0].Why == "" {
		t.Errorf("the white space behind it: %v", list)
	}
}
