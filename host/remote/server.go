package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"unicode/utf8"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/sse"
	"github.com/turncore/turncore/host/turns"
)

// ServerOptions are options of a Server.
type ServerOptions struct {
	// Input makes a turn's input of the body of its request, a JSON object: here is the place for more members, and to
	// see who asks. An error becomes the response, with its message and its causes, and with the status of a *host.Error,
	// from 400 to 599, or 500. nil takes `message`, a text that is not empty, and `sessionId`. The server sets the turn's
	// id.
	Input func(r *http.Request, body map[string]json.RawMessage) (turns.Input, error)
	// Continue lets a turn run on when its last client goes away. Without it such a turn is aborted.
	Continue bool
	// MaxReplayBytes is about how many bytes of events are kept for slow clients and for those that come back: of each
	// turn that runs, and of all that have ended. 0 means 8 MiB.
	MaxReplayBytes int
	// MaxBodyBytes bounds the body of a request. 0 means 1 MiB.
	MaxBodyBytes int64
	// Header has headers of every response, such as those of CORS.
	Header http.Header
}

// maxBody is how many bytes a request's body has at most, unless the options say otherwise.
const maxBody = 1 << 20

// Server answers the requests of clients that run turns here: those of [Connect], and of connect in JavaScript. It
// answers requests whose path ends with /turns, /turns/{turn}/events, /turns/{turn}/gates/{gate} or
// /turns/{turn}/abort. A turn that is asked for twice, by its id, runs once.
type Server struct {
	runner  *turns.Runner
	options ServerOptions
	turns   served
}

// NewServer returns a server for the turns of a runner. The runner stays the caller's: its Shutdown ends the turns. An
// invalid option fails with E_INVALID_VALUE.
func NewServer(runner *turns.Runner, options ServerOptions) (*Server, error) {
	switch {
	case runner == nil:
		return nil, invalidValue("runner", "must not be nil")
	case options.MaxReplayBytes < 0:
		return nil, invalidValue("MaxReplayBytes", "must not be negative")
	case options.MaxBodyBytes < 0:
		return nil, invalidValue("MaxBodyBytes", "must not be negative")
	}
	if err := checkHeader("Header", options.Header); err != nil {
		return nil, err
	}
	options.MaxReplayBytes = cmp.Or(options.MaxReplayBytes, sse.MaxReplay)
	options.MaxBodyBytes = cmp.Or(options.MaxBodyBytes, maxBody)
	if options.Input == nil {
		options.Input = messageInput
	}
	return &Server{runner: runner, options: options, turns: newServed(options.MaxReplayBytes)}, nil
}

// ServeHTTP implements http.Handler. Every error is a response.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, values := range s.options.Header {
		w.Header()[http.CanonicalHeaderKey(name)] = values
	}
	if err := s.answer(w, r); err != nil {
		refuse(w, err)
	}
}

// answer answers a request, or returns why it does not.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) error {
	at, err := placeOf(r.URL)
	if err != nil {
		return err
	}
	method := http.MethodPost
	if at.what == "events" {
		method = http.MethodGet
	}
	if r.Method != method {
		w.Header().Set("Allow", method)
		return invalidRequest("the method must be "+method, http.StatusMethodNotAllowed)
	}
	if at.what == "" {
		return s.start(w, r, at)
	}
	t, err := s.turns.require(at.turn)
	if err != nil {
		return err
	}
	switch at.what {
	case "events":
		after, err := eventIDIn(r.Header)
		if err != nil {
			return err
		}
		defer s.enter(t)()
		s.events(w, r, t, at, after)
		return nil
	case "abort":
		t.abort()
	default:
		body, err := readBody(w, r, s.options.MaxBodyBytes)
		if err != nil {
			return err
		}
		if err := s.settle(t, at.gate, body); err != nil {
			return err
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// start runs the turn that a request asks for, unless it runs or has run, and answers with its events.
func (s *Server) start(w http.ResponseWriter, r *http.Request, at place) error {
	after, err := eventIDIn(r.Header)
	if err != nil {
		return err
	}
	body, err := readBody(w, r, s.options.MaxBodyBytes)
	if err != nil {
		return err
	}
	id, err := turnIDIn(body)
	if err != nil {
		return err
	}
	t, err := s.turns.find(id)
	if err != nil {
		return err
	}
	if t == nil {
		in, err := s.options.Input(r, body)
		if err != nil {
			return err
		}
		in.TurnID = id
		// Meanwhile another request may have started it.
		if t, err = s.turns.findOrAdd(id, func(t *liveTurn) { s.run(r, t, in) }); err != nil {
			return err
		}
	}
	defer s.enter(t)()
	if t.log.Begun(r.Context()) != nil {
		return nil // nobody hears it
	}
	if err := t.refusal(); err != nil {
		s.turns.remove(t)
		return err
	}
	s.events(w, r, t, at, after)
	return nil
}

// run starts a turn, which outlives its request.
func (s *Server) run(r *http.Request, t *liveTurn, in turns.Input) {
	listen := in.OnEvent
	in.OnEvent = func(ev event.Event) {
		if listen != nil {
			listen(ev)
		}
		t.push(ev)
	}
	ctx, abort := context.WithCancel(context.WithoutCancel(r.Context()))
	t.abort = abort
	stream := s.runner.Stream(ctx, in)
	stream.Keep(0) // the turn's log has the events
	go func() {
		defer abort()
		t.ended = endOf(stream.Result()) // of the result nothing else is kept
		t.log.End()
		s.turns.ended(t)
	}()
}

// events answers with the events of a turn after a number.
func (s *Server) events(w http.ResponseWriter, r *http.Request, t *liveTurn, at place, after uint32) {
	if last, _, ended := t.log.State(); ended && after > last {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Location", at.turns+"/"+url.PathEscape(t.id)+"/events")
	_ = sse.Serve(r.Context(), w, t.log, after, t.end) // the client has been told, or is gone
}

// enter counts a client of a turn, until the returned function is called. When the last one leaves, the turn is
// aborted, if that is the policy.
func (s *Server) enter(t *liveTurn) (leave func()) {
	t.readers.Add(1)
	return func() {
		if t.readers.Add(-1) == 0 && !s.options.Continue {
			t.abort()
		}
	}
}

// settle settles a gate of a turn as a request wants it.
func (s *Server) settle(t *liveTurn, id string, answer map[string]json.RawMessage) error {
	settle, err := settlementOf(answer)
	if err != nil {
		return err
	}
	if gate, open := s.runner.GateOf(t.id, id); open {
		return settle(gate)
	}
	if result, known := t.settled(id); known {
		return gateSettled(result.String())
	}
	return host.NewError(host.CodeTurnGateUnknown, id, nil)
}

// place is what an address names.
type place struct {
	turns            string // the path of the turns
	turn, what, gate string
}

var path = regexp.MustCompile(`^(.*/turns)(?:/([^/]+)/(events|abort|gates)(?:/([^/]+))?)?/?$`)

func placeOf(u *url.URL) (place, error) {
	found := path.FindStringSubmatch(u.EscapedPath())
	if found == nil || (found[3] == "gates") != (found[4] != "") {
		return place{}, invalidRequest("there is nothing at this address", http.StatusNotFound)
	}
	turn, turnErr := url.PathUnescape(found[2])
	gate, gateErr := url.PathUnescape(found[4])
	if errors.Join(turnErr, gateErr) != nil || !utf8.ValidString(turn+gate) {
		return place{}, invalidRequest("the address has a wrong escape", http.StatusBadRequest)
	}
	return place{turns: found[1], turn: turn, what: found[3], gate: gate}, nil
}

// refuse answers with an error.
func refuse(w http.ResponseWriter, err error) {
	body := append(append([]byte(`{"error":`), sse.ErrorJSON(err)...), '}')
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(statusOf(err))
	_, _ = w.Write(body) // a client that is gone needs none
}

// statusOf is the status of the response with an error.
func statusOf(err error) int {
	var coded *host.Error
	switch {
	case !errors.As(err, &coded):
		return http.StatusInternalServerError
	case coded.Code == host.CodeInvalidTurnGateResolution:
		return http.StatusUnprocessableEntity
	case coded.Code == host.CodeInvalidTurnContext: // the request's body has made the input
		return http.StatusBadRequest
	case coded.Status >= 400 && coded.Status < 600:
		return coded.Status
	}
	return http.StatusInternalServerError
}
