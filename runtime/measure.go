package runtime

// measuredBudget is TokenBudget for a Measurer. If the executor cannot render its request, it is about to fail by
// itself, and there is nothing to shed.
func measuredBudget(task Task, d *Dispatch, m Measurer, b Budget) error {
	w := &weigher{task: task, d: d, executor: m, tally: tally{d: d, encoding: b.Encoding}, costs: make(map[int64]int64), units: make(map[int64]int)}
	needed, err := w.measure(nil)
	if available := b.Limit - b.Reserve; err == nil && needed > available {
		s := shedding{d: d, needed: needed, cost: func(handle int64) int64 { return w.costs[handle] }, units: w.units, measure: w.without}
		err = s.shed(available)
	}
	if err != nil && !w.failed {
		return err
	}
	return nil
}

// weigher measures the request that an executor would send.
type weigher struct {
	task     Task
	d        *Dispatch
	executor Measurer
	tally    tally
	costs    map[int64]int64 // tokens by record; if records share a piece, the first has all of its tokens
	units    map[int64]int   // records that share a piece
	measured bool
	failed   bool // the executor could not render its request
}

// piece is a piece of a request.
type piece struct {
	key     int64
	handles []int64
	inside  bool
}

// measure returns how many tokens the request would have without some of the records. The first call also notes the
// cost of each record.
func (w *weigher) measure(without map[int64]bool) (needed int64, err error) {
	var pieces []piece
	y := &w.tally
	err = w.executor.Measure(w.task, w.d, without, func(text []byte, handles []int64, inside bool) {
		if inside && w.measured {
			return
		}
		p := piece{int64(hash(text)), handles, inside}
		if !y.known(countedPiece, p.key) {
			y.add(countedPiece, p.key, text)
		}
		pieces = append(pieces, p)
	})
	if err != nil {
		w.failed = !w.d.aborted
		return 0, err
	}
	if err := y.count(w.task); err != nil {
		return 0, err
	}
	for i, p := range pieces {
		tokens := y.of(countedPiece, p.key)
		if !p.inside {
			needed += tokens
		}
		if w.measured || len(p.handles) == 0 {
			continue
		}
		w.costs[p.handles[0]] = tokens
		if !p.inside {
			for _, handle := range p.handles {
				w.units[handle] = i + 1
			}
		}
	}
	w.measured = true
	return needed, nil
}

func (w *weigher) without(gone []candidate) (int64, error) {
	without := make(map[int64]bool, len(gone))
	for _, r := range gone {
		without[r.handle] = true
	}
	return w.measure(without)
}

// hash is the 64-bit FNV-1a hash of a text.
func hash(text []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range text {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}
