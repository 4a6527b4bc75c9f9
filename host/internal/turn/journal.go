package turn

import (
	"io"
	"slices"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/collections"
	"github.com/turncore/turncore/host/internal/core"
	"github.com/turncore/turncore/host/internal/panics"
	"github.com/turncore/turncore/host/journal"
)

// recorder writes a turn's journal. A nil one writes nothing.
type recorder struct {
	w         *journal.Writer
	histories map[uint32]int // records told, by number
	err       error          // the first that the writer returned
}

// newRecorder begins the journal of a turn that is about to start; nil if there is nowhere to write it.
func newRecorder(w io.Writer, t *Turn) (r *recorder, err error) {
	if w == nil {
		return nil, nil
	}
	defer panics.Recovered(&err)
	c := t.core
	log, err := journal.NewWriter(w, journal.Header{
		ABI: abi.Version, Features: c.Greeting().Features, Module: c.Engine().ModuleHash(), Engine: c.Engine().Name(), Turn: t.number,
	})
	if err != nil {
		return nil, err
	}
	r = &recorder{w: log, histories: make(map[uint32]int)}
	r.step(slices.Concat(c.Greeting().In, t.runner.In), slices.Concat(c.Greeting().Out, t.runner.Out))
	return r, nil
}

// step adds a step. A writer that panics has failed.
func (r *recorder) step(in, out []byte) {
	if r == nil || r.err != nil {
		return
	}
	defer panics.Recovered(&r.err)
	r.err = r.w.Write(journal.Entry{In: in, Out: out})
}

// runner adds a runner that a dispatch inside the turn uses.
func (r *recorder) runner(o *core.Runner) { r.step(o.In, o.Out) }

// history adds what the turn needs of a history.
func (r *recorder) history(number uint32, view collections.View) {
	if r == nil {
		return
	}
	for _, f := range view.History().Frames(number, r.histories[number], view.Len()) {
		r.step(f.Bytes, nil)
	}
	r.histories[number] = max(r.histories[number], view.Len())
}

// close tells whether the journal is whole.
func (r *recorder) close() error {
	if r == nil {
		return nil
	}
	return r.err
}
