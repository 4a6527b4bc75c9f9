package fair

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// Waiting goroutines get the lock in their order, also when the one that holds it comes back at once.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const waiters = 100
		m := NewMutex()
		m.Lock()
		var got, want []int
		for i := range waiters {
			want = append(want, i)
			go func() {
				m.Lock()
				got = append(got, i)
				m.Unlock()
			}()
			synctest.Wait() // until it waits
		}
		m.Unlock()
		m.Lock()
		if !slices.Equal(got, want) {
			t.Errorf("the lock went to %v", got)
		}
		m.Unlock()
	})
}

func TestExclusion(t *testing.T) {
	m := NewMutex()
	var running sync.WaitGroup
	count := 0
	for range 8 {
		running.Go(func() {
			for range 1000 {
				m.Lock()
				count++
				m.Unlock()
			}
		})
	}
	running.Wait()
	if count != 8000 {
		t.Errorf("counted to %d", count)
	}
}

func TestUnlockOfUnlocked(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	m := NewMutex()
	m.Unlock()
}

func BenchmarkMutex(b *testing.B) {
	m, count := NewMutex(), 0
	for b.Loop() {
		m.Lock()
		count++
		m.Unlock()
	}
	if count != b.N {
		b.Error(count)
	}
}
