package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/bus"
	"github.com/turncore/turncore/host/turns"
)

// NoRetries as [ClientOptions].Retries gives a turn up when its connection fails.
const NoRetries = -1

// ClientOptions are options of Connect.
type ClientOptions struct {
	// HTTP sends the requests: http.DefaultClient if nil. Its Timeout would cut every turn that is longer.
	HTTP *http.Client
	// Header has headers of every request, a token for example.
	Header http.Header
	// Retries is how many times in a row a connection may fail, for a turn, without an event between. 0 means 5.
	Retries int
	// RetryDelay is the time before a connection is tried again, by the number of failures in a row, from 1. nil waits
	// longer from time to time, 8 seconds at most.
	RetryDelay func(failures int) time.Duration
	// MaxEventBytes bounds an event that is not text. 0 means 64 MiB.
	MaxEventBytes int
}

// Client is a runner whose turns run on a server. Its methods may be called from many goroutines.
type Client struct {
	url     string
	options ClientOptions
	bus     bus.Bus
	gates   gates
}

// Connect returns a runner whose turns run behind a [Server], or behind createTurnServer in JavaScript, at an address
// such as "https://example.com/turns". When a connection breaks, a turn is read on where it was, as long as it lives.
// Nothing is sent yet. An invalid address or option fails with E_INVALID_VALUE.
func Connect(address string, options ClientOptions) (*Client, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" && (u.Scheme == "http" || u.Scheme == "https"):
		return nil, invalidValue("url", "must be an address, not "+strconv.Quote(address))
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, invalidValue("url", "must begin with http: or https:, not "+strconv.Quote(address))
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, invalidValue("url", "must have no query")
	case options.Retries < NoRetries:
		return nil, invalidValue("Retries", "must be a number of times, or NoRetries")
	case options.MaxEventBytes < 0:
		return nil, invalidValue("MaxEventBytes", "must not be negative")
	}
	if err := checkHeader("Header", options.Header); err != nil {
		return nil, err
	}
	options.HTTP = cmp.Or(options.HTTP, http.DefaultClient)
	if options.Retries = cmp.Or(options.Retries, 5); options.Retries == NoRetries {
		options.Retries = 0
	}
	if options.RetryDelay == nil {
		options.RetryDelay = retryDelay
	}
	return &Client{url: strings.TrimSuffix(u.String(), "/"), options: options}, nil
}

// retryDelay doubles from half a second on, with a part that differs from client to client.
func retryDelay(failures int) time.Duration {
	most := min(250*time.Millisecond<<min(failures, 5), 8*time.Second)
	return most/2 + rand.N(most/2)
}

// Input is the input of a turn on a server.
type Input struct {
	Message string // the user's message
	Session string // its conversation
	// TurnID is the turn's id; one is made if it is empty. A turn that the server has or had is attached to.
	TurnID string
	// Members are more members of the request, for a server whose Input option reads them: values that marshal to JSON.
	Members map[string]any
	OnEvent func(event.Event) // called for every event of this turn, after the client's own listeners
}

// body is the body of the request that starts the turn.
func (in *Input) body() ([]byte, error) {
	body := make(map[string]any, len(in.Members)+3)
	for name, v := range in.Members {
		switch name {
		case "message", "sessionId", "turnId":
			return nil, invalidValue("Members", "has `"+name+"`, which has a field of its own")
		}
		body[name] = v
	}
	for name, v := range map[string]string{"message": in.Message, "sessionId": in.Session, "turnId": in.TurnID} {
		if v != "" {
			body[name] = v
		}
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, invalidValue("Members", err.Error())
	}
	return text, nil
}

// Stream starts a turn on the server, or attaches to it, and returns a stream of its events. Cancelling ctx, leaving
// the loop and Abort abort the turn: its end still comes from the server, if it tells it within five seconds.
func (c *Client) Stream(ctx context.Context, in Input) *turns.Stream {
	in.TurnID = cmp.Or(in.TurnID, newTurnID())
	return turns.NewStream(ctx, func(asked context.Context, tell func(event.Event)) (*turns.Result, error) {
		body, err := in.body()
		if err != nil {
			return nil, err
		}
		return c.run(ctx, asked, &in, body, tell)
	})
}

// Run runs a turn on the server to its end. Cancelling ctx aborts it. The result and the error are as those of the
// runner on the server: see turns.TurnRunner.Run. The error may also be that of the connection: with a result, whose
// status is failed, if events came before.
func (c *Client) Run(ctx context.Context, in Input) (*turns.Result, error) {
	in.TurnID = cmp.Or(in.TurnID, newTurnID())
	body, err := in.body()
	if err != nil {
		return nil, err
	}
	return c.run(ctx, ctx, &in, body, func(event.Event) {})
}

// On calls fn for every event of one kind of all the client's turns, one at a time for a turn. The returned function
// removes it. A panic in fn becomes an error event with E_LISTENER_ERROR. On panics for a nil fn and for an unknown
// kind.
func (c *Client) On(kind event.Kind, fn func(event.Event)) (off func()) {
	return c.bus.Add(bus.Bit(kind), fn)
}

// Observe is On for the kinds of event that report the progress of a turn. Both accept any kind.
func (c *Client) Observe(kind event.Kind, fn func(event.Event)) (off func()) { return c.On(kind, fn) }

// OnAny calls fn for every event of any kind.
func (c *Client) OnAny(fn func(event.Event)) (off func()) { return c.bus.Add(bus.AllKinds, fn) }

// Gate returns the open gate with the given id; ok is false if there is none, or several: then use GateOf. Its methods
// send a request, and return when the server has settled the gate, or with its refusal.
func (c *Client) Gate(id string) (gate event.OpenGate, ok bool) { return c.gates.find("", id) }

// GateOf returns the open gate with the given id of one turn.
func (c *Client) GateOf(turnID, id string) (gate event.OpenGate, ok bool) {
	if turnID == "" {
		return nil, false
	}
	return c.gates.find(turnID, id)
}

// Gates returns the open gates of the turns that the client follows, in the order in which they came.
func (c *Client) Gates() []event.OpenGate { return c.gates.list() }
