package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/bus"
	"github.com/turncore/turncore/host/internal/sse"
	"github.com/turncore/turncore/host/internal/turn"
	"github.com/turncore/turncore/host/turns"
)

// patience is how long a server may take to tell the end of an aborted turn.
const patience = 5 * time.Second

// following is a turn that a client follows.
type following struct {
	client  *Client
	id      string
	caller  context.Context // of who started it: gates may be settled until it ends
	asked   context.Context // ends when the turn is to be aborted
	ctx     context.Context // ends when nobody listens any more
	cut     context.CancelFunc
	begun   chan struct{} // closed when the server has the turn
	decoder sse.Decoder
	told    turn.Collector
	onEvent func(event.Event)
	tell    func(event.Event)
}

// run follows a turn to its end.
func (c *Client) run(caller, asked context.Context, in *Input, body []byte, tell func(event.Event)) (*turns.Result, error) {
	f := &following{
		client: c, id: in.TurnID, caller: caller, asked: asked, begun: make(chan struct{}), onEvent: in.OnEvent, tell: tell,
	}
	f.ctx, f.cut = context.WithCancel(context.WithoutCancel(asked))
	f.decoder.MaxEvent = c.options.MaxEventBytes
	f.decoder.Listener = sse.Listener{Event: f.event, Gate: f.gate}
	defer c.gates.close(f, "", event.GateAborted)
	defer f.cut()
	if asked.Err() != nil {
		f.cut() // nothing was asked for yet
		return f.result(context.Cause(asked))
	}
	defer context.AfterFunc(asked, f.abort)()
	return f.result(f.follow(body))
}

// abort tells the server to abort the turn. The connection is cut only if it cannot be told, or does not answer.
func (f *following) abort() {
	patient, done := context.WithTimeout(f.ctx, patience)
	defer done()
	select {
	case <-f.begun:
		if f.client.post(patient, "/"+url.PathEscape(f.id)+"/abort", []byte("{}")) == nil {
			<-patient.Done() // the end comes, and cuts the connection
		}
	case <-patient.Done():
	}
	f.cut()
}

// follow reads the turn to its end, by as many responses as it takes.
func (f *following) follow(body []byte) error {
	begun := false
	for failures := 0; ; {
		before := f.decoder.LastEventID()
		err := f.read(&begun, body)
		switch {
		case f.decoder.End() != nil:
			return nil
		case f.ctx.Err() != nil:
			return context.Cause(f.ctx)
		case !errors.Is(err, host.CodeTurnStreamCut):
			return err
		}
		if failures++; f.decoder.LastEventID() > before {
			failures = 1
		}
		if failures > f.client.options.Retries {
			return err
		}
		select {
		case <-time.After(f.client.options.RetryDelay(failures)):
		case <-f.ctx.Done():
			return context.Cause(f.ctx)
		}
	}
}

// read reads one response.
func (f *following) read(begun *bool, body []byte) error {
	var response *http.Response
	var err error
	if *begun {
		header := http.Header{"Last-Event-Id": {strconv.FormatUint(uint64(f.decoder.LastEventID()), 10)}}
		response, err = f.client.send(f.ctx, http.MethodGet, "/"+url.PathEscape(f.id)+"/events", header, nil)
	} else {
		response, err = f.client.send(f.ctx, http.MethodPost, "", nil, body)
	}
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if err := refusalOf(response); err != nil {
		return passing(response, err)
	}
	if !*begun {
		*begun = true
		close(f.begun)
	}
	if err := requireEvents(response); err != nil {
		return err
	}
	f.decoder.Resume()
	piece := make([]byte, 16<<10)
	for {
		n, readErr := response.Body.Read(piece)
		if err := f.decoder.Write(piece[:n]); err != nil || f.decoder.End() != nil {
			return err
		}
		if readErr != nil {
			return cutOff(fmt.Sprintf("after event %d", f.decoder.LastEventID()), readErr)
		}
	}
}

func (f *following) gate(shown sse.Gate) event.OpenGate {
	return &gate{shown: shown, turn: f}
}

// event tells an event to everybody.
func (f *following) event(ev event.Event) {
	switch ev := ev.(type) {
	case *event.TurnGateOpen:
		if g, ok := ev.Gate.(*gate); ok {
			f.client.gates.add(g)
		}
	case *event.TurnGateClosed:
		f.client.gates.close(f, ev.GateID, ev.Result)
	}
	f.told.Observe(ev)
	failures := f.deliver(ev)
	if ev.Kind() == event.KindError {
		return // the errors of those who hear of errors are reported to nobody
	}
	for _, err := range failures {
		report := &event.Error{Head: *ev.Meta(), Err: host.NewError(host.CodeListenerError, ev.Kind().String()+": "+err.Error(), err)}
		f.deliver(report)
	}
}

// deliver tells an event, and returns what listeners failed with.
func (f *following) deliver(ev event.Event) (failures []error) {
	f.client.bus.Tell(ev, &failures)
	if f.onEvent != nil {
		bus.Notify(f.onEvent, ev, &failures)
	}
	f.tell(ev)
	return failures
}

// result is what became of the turn. err is why its end was not told.
func (f *following) result(err error) (*turns.Result, error) {
	status, iterations := event.Failed, 0
	switch end := f.decoder.End(); {
	case end != nil:
		status, iterations, err = end.Status, end.Iterations, end.Err
		if status == event.Aborted && err == nil && f.asked.Err() == nil {
			err = context.Canceled // somebody else aborted it
		}
	case f.asked.Err() != nil && f.ctx.Err() != nil:
		status = event.Aborted
	case f.decoder.LastEventID() == 0:
		return nil, err
	}
	if status == event.Aborted && f.asked.Err() != nil {
		err = context.Cause(f.asked)
	}
	o := f.told.Outcome(status)
	return &turns.Result{
		TurnID: f.id, Status: status, Iterations: iterations, Err: err,
		Text: o.Text, Interrupted: o.Interrupted, ToolCalls: o.ToolCalls, Usage: turns.Usage(o.Usage),
	}, err
}
