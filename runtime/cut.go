package runtime

// inside reports whether outer is an ancestor of d, its source directly or indirectly. Every dispatch is inside the
// turn (nil).
func (d *Dispatch) inside(outer *Dispatch) bool {
	for p := d; p != nil; p = p.parent {
		if p.parent == outer {
			return true
		}
	}
	return false
}

// cutInside ends the dispatches inside another one, or inside the turn (nil), that still run because nobody awaited
// them. A dispatch's writes share the fate of the iteration that it was started in, so it cannot outlive that
// iteration.
func (t *Turn) cutInside(task Task, outer *Dispatch) {
	for i := len(t.dispatches) - 1; i >= 0; i-- {
		if d := t.dispatches[i]; d != outer && !d.ended && d.inside(outer) {
			d.cut(task, StatusAborted, nil)
		}
	}
}

// cut ends a dispatch whose task is still running. That task finds it ended and does nothing more.
func (d *Dispatch) cut(task Task, status Status, err error) {
	d.aborted, d.ended, d.status = true, true, status
	if d.begun {
		d.endIteration(task, status)
	}
	d.end(err)
}

// Break ends the turn, or the standalone dispatch, after one of its tasks failed: it closes everything open, innermost
// first, and returns how many iterations ran.
func (t *Turn) Break(err error) (iterations int) {
	if t.context.ended {
		return 0
	}
	for i := len(t.dispatches) - 1; i >= 0; i-- {
		d := t.dispatches[i]
		if !d.ended {
			t.emitError(d, err)
			d.cut(nil, StatusNack, err)
		}
		if d.parent == nil && iterations == 0 {
			iterations = d.iterations
		}
	}
	t.context.ended = true
	t.abortGates(err)
	if !t.standalone {
		t.emitError(nil, err)
		t.emit(nil, EventTurnEnd, &TurnEndEvent{Started: t.started, Status: StatusFailed, Err: err})
	}
	return iterations
}
