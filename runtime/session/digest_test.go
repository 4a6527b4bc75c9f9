package session_test

import (
	"fmt"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/session"
)

func digestLog(t *testing.T, events ...string) *session.Log {
	t.Helper()
	l := &session.Log{}
	for _, e := range events {
		v, err := value.FromJSON(nil, []byte(e))
		if err != nil {
			t.Fatal(e, err)
		}
		if err := l.Add(v); err != nil {
			t.Fatal(e, err)
		}
	}
	return l
}

func spoke(id, invocation, author, text string) string {
	return fmt.Sprintf(`{"id":%q,"invocationId":%q,"author":%q,"content":{"parts":[{"text":%q}]}}`, id, invocation, author, text)
}

func TestDigest(t *testing.T) {
	created := `{"id":"created","author":"system","actions":{"stateDelta":{"a":1}}}`
	first := []string{created, spoke("1", "i1", "user", "q1"), spoke("2", "i1", "a", "a1"), spoke("3", "i2", "user", "q2"), spoke("4", "i2", "a", "a2")}
	summed := append(first[:5:5], `{"id":"5","invocationId":"i2","author":"system","content":{"parts":[{"text":"sum"}]},"actions":{"compaction":{"first":"1","last":"4"}}}`,
		spoke("6", "i3", "user", "q3"), spoke("7", "i4", "user", "q4"))
	for name, c := range map[string]struct {
		events              []string
		need, keep, overlap int
		want                string
	}{
		"media and thoughts": {[]string{
			`{"id":"1","invocationId":"i","author":"a","content":{"parts":[{"text":"t","thought":true},{"text":""},{"fileData":{"fileUri":"x:y"}}]}}`,
		}, 1, 0, 0, `[a] [fileData: x:y]|1-1`},
		"a confirmation": {[]string{
			`{"id":"1","invocationId":"i","author":"a","content":{"parts":[{"functionCall":{"id":"c","name":"t"}}]},"longRunningToolIds":["c"],"actions":{"requestedConfirmations":{"c":{}}}}`,
			`{"id":"2","invocationId":"i","author":"user","content":{"parts":[{"functionResponse":{"id":"c","name":"t","response":{"confirmed":true}}},{"text":"pay"}]}}`,
			`{"id":"3","invocationId":"i","author":"a","content":{"parts":[{"functionResponse":{"id":"c","name":"t","response":{"paid":1}}}]}}`,
		}, 1, 0, 0, "[a] called tool `t` with {}|[user] said: pay|[a] tool `t` returned {\"paid\":1}|1-3"},
		"empty":                        {nil, 1, 0, 0, ` -`},
		"nothing but its creation":     {first[:1], 1, 0, 0, ` -`},
		"too few":                      {first, 3, 0, 0, ` -`},
		"all":                          {first, 2, 0, 0, `[user] said: q1|[a] said: a1|[user] said: q2|[a] said: a2|1-4`},
		"all but one":                  {first, 1, 1, 0, `[user] said: q1|[a] said: a1|1-2`},
		"too few besides those kept":   {first, 1, 2, 0, ` -`},
		"nothing to overlap":           {first, 1, 0, 3, `[user] said: q1|[a] said: a1|[user] said: q2|[a] said: a2|1-4`},
		"a summary before":             {summed, 1, 0, 0, `[system] said: sum|[user] said: q3|[user] said: q4|1-7`},
		"a summary, one invocation":    {summed, 1, 1, 0, `[system] said: sum|[user] said: q3|1-6`},
		"a summary, with an overlap":   {summed, 1, 1, 1, `[system] said: sum|[user] said: q2|[a] said: a2|[user] said: q3|1-6`},
		"a summary, with all of it":    {summed, 2, 0, 9, `[system] said: sum|[user] said: q1|[a] said: a1|[user] said: q2|[a] said: a2|[user] said: q3|[user] said: q4|1-7`},
		"a summary, and too few since": {summed, 3, 0, 9, ` -`},
	} {
		parts, from, to := digestLog(t, c.events...).Digest(c.need, c.keep, c.overlap)
		got := ""
		for _, p := range parts {
			got += string(p.Text) + "|"
		}
		if got == "" {
			got = " "
		}
		if got += from + "-" + to; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestTokens(t *testing.T) {
	used := func(id string, n int) string {
		return fmt.Sprintf(`{"id":%q,"invocationId":"i","author":"a","usage":{"promptTokens":%d}}`, id, n)
	}
	l := digestLog(t, used("1", 900), used("2", 7), used("3", 5), spoke("4", "i", "a", "x"))
	if n := l.Tokens(1, 100); n != 7 {
		t.Errorf("%d tokens, want those of the largest request", n)
	}
	text := spoke("1", "i", "user", "0123456789012345678901234567890123456789")
	if n := digestLog(t, text, text).Tokens(0, 1000); n != 28 {
		t.Errorf("%d tokens of 112 bytes", n)
	}
	if n := digestLog(t, text, text, `{"id":"2","author":"system","actions":{"compaction":{"first":"1","last":"1"}}}`, text).Tokens(0, 1000); n != 28 {
		t.Errorf("%d tokens behind a summary", n)
	}
}
