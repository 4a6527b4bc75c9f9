package main

import (
	"runtime"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/bench/figure"
	"github.com/turncore/turncore/host/native"
)

// measureMemory runs many turns in one instance and looks at its memory and at the program's heap, early and late.
func measureMemory(p pace, e host.Engine) ([]figure.Row, error) {
	engine := &watched{Engine: e}
	c, err := newConversation(engine, 0, nil)
	if err != nil {
		return nil, err
	}
	defer c.close()
	var heap, guest [2]float64
	done := 0
	first := (*watchedInstance)(nil)
	for i, turns := range p.turns {
		for ; done < turns; done++ {
			if err := c.turn(); err != nil {
				return nil, err
			}
			if first == nil {
				first = engine.last.Load()
			}
		}
		heap[i] = liveHeap()
		guest[i] = float64(first.MemoryBytes()) / (1 << 20)
		if engine.last.Load() != first {
			return nil, errUnexpected // another instance was opened
		}
	}
	row := func(id, unit string, v float64) figure.Row { return single(e, id, unit, v) }
	rows := []figure.Row{
		row(figure.HeapEarly, figure.MiB, heap[0]),
		row(figure.HeapLate, figure.MiB, heap[1]),
		row(figure.HeapGrowth, figure.Times, heap[1]/heap[0]),
	}
	if e.Name() != native.Name {
		rows = append(
			rows,
			row(figure.GuestEarly, figure.MiB, guest[0]),
			row(figure.GuestLate, figure.MiB, guest[1]),
			row(figure.GuestGrowth, figure.Times, guest[1]/guest[0]),
		)
	}
	return rows, nil
}

// liveHeap is what is in use on Go's heap, in MiB. Collecting twice also frees what finalizers held.
func liveHeap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}
