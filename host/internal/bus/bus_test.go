package bus

import (
	"testing"

	"github.com/turncore/turncore/host/event"
)

func TestInsideListener(t *testing.T) {
	if InsideListener() {
		t.Error("outside of a listener")
	}
	var inside, other bool
	var deep func(n int)
	deep = func(n int) {
		if n > 0 {
			deep(n - 1)
			return
		}
		inside = InsideListener()
	}
	done := make(chan struct{})
	Notify(func(event.Event) {
		deep(200)
		go func() {
			other = InsideListener()
			close(done)
		}()
		<-done
	}, nil, nil)
	if !inside || other {
		t.Errorf("inside %t, on another goroutine %t", inside, other)
	}
}

func BenchmarkInsideListener(b *testing.B) {
	for b.Loop() {
		InsideListener()
	}
}
