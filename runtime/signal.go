package runtime

import "github.com/turncore/turncore/runtime/fault"

func (d *Dispatch) signalled() bool { return d.acked || d.nacked }

// Signalled reports whether Ack or Nack was called.
func (d *Dispatch) Signalled() bool { return d.signalled() }

// Ack ends the dispatch successfully after the current iteration. A second signal fails with
// E_LLM_EXECUTION_ALREADY_SIGNALLED.
func (d *Dispatch) Ack() error {
	if d.signalled() {
		return fault.New(fault.LLMExecutionAlreadySignalled)
	}
	d.acked = true
	d.turn.world.Sync(Sync{Context: d.number, Op: SyncSignal, Handle: SignalAck})
	if d.registry.ephemeral() {
		d.setTools(d.pruneEphemeral())
	}
	return nil
}

// Nack fails the dispatch with err once the running seam has returned; the iteration's writes are discarded. A nil err
// stands for an unspecified error.
func (d *Dispatch) Nack(err error) error {
	if d.signalled() {
		return fault.New(fault.LLMExecutionAlreadySignalled)
	}
	if err == nil {
		err = fault.Plain("the dispatch was nacked without an error")
	}
	d.nacked, d.nackErr = true, err
	d.turn.world.Sync(Sync{Context: d.number, Op: SyncSignal, Handle: SignalNack, Err: err})
	return nil
}

// nackedBy reports whether err is the error of a nack, or the failure of the dispatch's own executor, which counts as
// one. Other failures end a dispatch without a signal.
func (d *Dispatch) nackedBy(err error) bool {
	if d.nacked && err == d.nackErr {
		return true
	}
	f, ok := err.(*fault.Error)
	return ok && f.Code == fault.LLMExecutionExecutorError
}

// Abort aborts this dispatch only.
func (d *Dispatch) Abort(reason error) {
	if !d.aborted {
		d.aborted, d.reason = true, reason
	}
}
