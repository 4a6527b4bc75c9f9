package guest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/runtime"
)

// Bodies begin in order, at most so many at once, and fewer if the limit on effects leaves no room. The first error in
// order counts, and a panic is an error.
func TestEach(t *testing.T) {
	const n = 20
	for _, tt := range []struct {
		atOnce, want int
		limit        uint32
	}{{1, 1, 64}, {4, 4, 64}, {64, n, 64}, {64, 8, 16}, {64, 1, 4}} {
		w := openLimited(t, abi.Limits{TurnEffects: tt.limit}, withTool)
		running, most := 0, 0
		var begun []int
		w.in.runners[1].Executor = executorFunc(func(task runtime.Task, d *runtime.Dispatch) error {
			err := task.(*coroutine).each(n, tt.atOnce, func(task runtime.Task, i int) error {
				begun = append(begun, i)
				running++
				most = max(most, running)
				defer func() { running-- }()
				tool, _ := d.Tools().Get("add")
				if _, err := d.ExecuteTool(task, tool, []byte{0x80}, runtime.ToolRun{}); err != nil {
					return err
				}
				switch i {
				case 5:
					return errors.New("five")
				case 4:
					if tt.atOnce > 1 {
						panic("four")
					}
					return errors.New("panic: four")
				}
				return nil
			})
			if err == nil || !strings.Contains(err.Error(), "four") {
				t.Errorf("%+v: %v", tt, err)
			}
			return d.Ack()
		})
		w.startTurn(1)
		var waiting []abi.Effect
		for waiting = w.effects; len(waiting) > 0; {
			last := waiting[len(waiting)-1] // end in reverse order
			waiting = waiting[:len(waiting)-1]
			w.result(last)
			waiting = append(waiting, w.effects...)
		}
		if len(w.ends) != 1 || most != tt.want || fmt.Sprint(begun) != "[0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19]" {
			t.Errorf("%+v: %d at once, begun %v, ends %+v", tt, most, begun, w.ends)
		}
	}
}
