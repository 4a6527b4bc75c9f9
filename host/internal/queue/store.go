package queue

import (
	"reflect"
	"runtime"
	"sync"
	"weak"
)

// PerStore has a value for each store in use. A value lives as long as what uses it. The zero value is empty.
type PerStore[T any] struct {
	mu sync.Mutex
	of map[any]weak.Pointer[T]
}

// Get returns the value of a store, which make makes if need be. A store that cannot be told apart from others gets one
// of its own each time.
func (p *PerStore[T]) Get(store any, make func() *T) *T {
	if store == nil || !reflect.ValueOf(store).Comparable() {
		return make()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if v := p.of[store].Value(); v != nil {
		return v
	}
	if p.of == nil {
		p.of = map[any]weak.Pointer[T]{}
	}
	v := make()
	p.of[store] = weak.Make(v)
	runtime.AddCleanup(v, p.forget, store)
	return v
}

// forget drops a store whose value is gone.
func (p *PerStore[T]) forget(store any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of[store].Value() == nil {
		delete(p.of, store)
	}
}

// Has tells whether there is a value of a store.
func (p *PerStore[T]) Has(store any) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, there := p.of[store]
	return there
}
