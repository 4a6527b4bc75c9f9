package chat_test

import (
	"testing"

	"github.com/turncore/turncore/runtime"
)

// The records of an answer come after those that it answers, even if the clock is behind them.
func TestAnswerFollowsTheConversation(t *testing.T) {
	d := newDispatch(t)
	d.clock = 100
	d.tools = []*runtime.Tool{{Number: 1, Name: "get", InputSchema: fromJSON(t, `{"type":"object"}`)}}
	d.run = func(*runtime.Tool, []byte) ([]byte, error) { return fromJSON(t, `"42"`), nil }
	d.addAt(8000, "user", "u1", "before")
	d.addCall(9000, "old", `{}`, `"41"`, "")
	d.addAt(9001, "user", "u2", "and now?")
	d.replies(sse(text("let me see"), calls(`{"index":0,"id":"a","function":{"name":"get","arguments":"{}"}}`), stop), sse(text("42"), stop))
	d.iterate(newExecutor(t, `{"model":"m"}`), 2)
	if !d.acked || len(d.requests) != 2 {
		t.Fatalf("acked %v after %d requests", d.acked, len(d.requests))
	}
	var roles string
	for _, m := range messagesOf(t, d.requests[1]) {
		roles += m[len(`{"role":"`):][:1]
	}
	if roles != "uatuat" {
		t.Errorf("the roles are %s:\n%s", roles, d.requests[1])
	}
}
