package provider_test

import (
	"strings"
	"testing"

	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime/record"
)

// The phase of a message goes back with it, from a stream and from a whole response; no message has one that had none.
func TestPhases(t *testing.T) {
	message := func(phase, text string) string {
		return `{"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":` + phase +
			`,"content":[{"type":"output_text","text":"` + text + `"}]}`
	}
	call := `{"type":"function_call","id":"fc_1","call_id":"c1","name":"get","arguments":"{}"}`
	whole := func(items string) reply {
		return reply{
			mediaType: "application/json",
			body:      `{"object":"response","status":"completed","model":"m","output":[` + items + `]}`,
		}
	}
	begun := `{"type":"message","id":"msg_1","role":"assistant","status":"in_progress","content":[],` +
		`"phase":"commentary"}`
	stream := reply{body: messages(
		itemEvent("added", "0", begun), textDelta("0", "Wait."),
		itemEvent("done", "0", message(`"commentary"`, "Wait.")), itemEvent("done", "1", call),
		responseEvent("response.completed",
			`,"response":{"status":"completed","output":[`+message(`"commentary"`, "Wait.")+`,`+call+`]}`),
	)}
	for name, first := range map[string]reply{"stream": stream, "whole": whole(message(`"commentary"`, "Wait.") + "," + call)} {
		d := newDispatch(t)
		d.say("user", "hi")
		d.offer("get", `{"type":"object"}`, func(string) (string, error) { return "1", nil })
		e := newExecutor(t, `{"model":"m"}`, provider.Responses)
		d.play(e, first, whole(message(`"final_answer"`, "Done.")))
		if !d.acked || d.stored(record.Messages) != 3 {
			t.Fatalf("%s: acked %v, nacked by %v", name, d.acked, d.nackedBy)
		}
		if body := string(d.requests[1].Body); !strings.Contains(body, `{"type":"message","role":"assistant","content":"Wait.","phase":"commentary"},{"type":"function_call"`) {
			t.Errorf("%s: %s", name, body)
		}
		d.acked = false
		d.say("user", "again")
		d.play(e, whole(message("null", "Yes.")))
		if body := string(d.requests[2].Body); !strings.Contains(body, `"content":"Done.","phase":"final_answer"}`) {
			t.Errorf("%s: %s", name, body)
		}
		d.acked = false
		d.say("user", "more")
		d.play(e, whole(message("null", "No.")))
		if body := string(d.requests[3].Body); !strings.Contains(body, `"content":"Yes."}`) {
			t.Errorf("%s: %s", name, body)
		}
	}
}
