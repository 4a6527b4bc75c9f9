package chat_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/record"
)

// threeCalls is an answer that calls get three times.
var threeCalls = sse(calls(`{"index":0,"id":"a","function":{"name":"get","arguments":"{\"x\":0}"}},{"index":1,"id":"b","function":{"name":"get","arguments":"{\"x\":1}"}},{"index":2,"id":"c","function":{"name":"get","arguments":"{\"x\":2}"}}`))

// In whatever order calls end, their records are stored in the order of the calls, each as soon as all before it are.
func TestCallsAreStoredInOrder(t *testing.T) {
	tests := []struct {
		order []int
		want  string
	}{
		{[]int{0, 1, 2}, "run 0, store a, run 1, store b, run 2, store c"},
		{[]int{2, 1, 0}, "run 2, run 1, run 0, store a, store b, store c"},
		{[]int{1, 0, 2}, "run 1, run 0, store a, store b, run 2, store c"},
	}
	for _, tt := range tests {
		d := newDispatch(t)
		withTools(t, d)
		d.order = tt.order
		d.replies(threeCalls)
		d.iterate(newExecutor(t, `{"model":"m","parallel":3}`), 1)
		var steps []string
		for _, e := range d.events {
			if n, ok := strings.CutPrefix(e, `run get{"x":`); ok {
				steps = append(steps, "run "+strings.TrimSuffix(n, "}"))
			} else if strings.HasPrefix(e, "store ") {
				steps = append(steps, e)
			}
		}
		if got := strings.Join(steps, ", "); got != tt.want || d.atOnce != 3 {
			t.Errorf("in the order %v, %d at once:\n got %s\nwant %s", tt.order, d.atOnce, got, tt.want)
		}
		var created []int64
		for _, it := range d.records[record.ToolCalls] {
			created = append(created, record.ToolCall(it.body).CreatedAt())
		}
		if len(created) != 3 || !slices.IsSorted(created) {
			t.Errorf("created at %v", created)
		}
	}
}

// A failing call is reported to the model and stops no other; a failing report stops those that have not begun.
func TestParallelFailures(t *testing.T) {
	d := newDispatch(t)
	withTools(t, d)
	d.run = func(_ *runtime.Tool, args []byte) ([]byte, error) {
		if d.json(args) == `{"x":1}` {
			return nil, errors.New("no network")
		}
		return args, nil
	}
	d.replies(threeCalls)
	d.iterate(newExecutor(t, `{"model":"m","parallel":2}`), 1)
	var failed []bool
	for _, it := range d.records[record.ToolCalls] {
		failed = append(failed, record.ToolCall(it.body).IsError())
	}
	if !slices.Equal(failed, []bool{false, true, false}) || d.Signalled() {
		t.Errorf("failed: %v, nacked: %v", failed, d.nacked)
	}

	d = newDispatch(t)
	withTools(t, d)
	d.replies(threeCalls)
	errListener := errors.New("a listener")
	d.onReport = func() {
		if d.streams["b"] != nil {
			d.failReport = errListener
		}
	}
	if err := newExecutor(t, `{"model":"m","parallel":2}`).Execute(d); !errors.Is(err, errListener) {
		t.Errorf("got %v", err)
	}
	if n := len(d.records[record.ToolCalls]); n != 1 || d.streams["c"] != nil {
		t.Errorf("%d calls are stored, streams %v", n, d.streams)
	}
}

func TestParallelOption(t *testing.T) {
	for _, v := range []string{"0", "65", "1.5", `"2"`, "true"} {
		_, err := chat.New(fromJSON(t, `{"model":"m","parallel":`+v+`}`), provider.OpenAI)
		if err == nil || !strings.Contains(err.Error(), "`parallel` must be a whole number from 1 to 64") {
			t.Errorf("%s: %v", v, err)
		}
	}
}
