// Package fair has the lock of an engine's instances, whose steps many goroutines wait for.
package fair

import "sync/atomic"

// Mutex is a lock that goroutines get in the order in which they asked for it. [sync.Mutex] lets one that runs overtake
// those that wait, for up to a millisecond; behind an instance hundreds of turns pile up in that time, and then each of
// them waits for all the others. Uncontended it takes some 10 ns.
//
// The zero Mutex cannot be used: make one with [NewMutex].
type Mutex struct {
	// count is how many hold the lock or want it.
	count atomic.Int32
	// next has one element while the lock goes from one to the next. Go's channels serve their receivers in order.
	next chan struct{}
}

// NewMutex returns a lock that nobody holds.
func NewMutex() Mutex { return Mutex{next: make(chan struct{}, 1)} }

// Lock waits for those that came before, and takes the lock.
func (m *Mutex) Lock() {
	if m.count.Add(1) > 1 {
		<-m.next
	}
}

// Unlock gives the lock to the goroutine that has waited longest. It panics when nobody holds the lock.
func (m *Mutex) Unlock() {
	switch n := m.count.Add(-1); {
	case n > 0:
		m.next <- struct{}{}
	case n < 0:
		panic("fair: unlock of an unlocked mutex")
	}
}
