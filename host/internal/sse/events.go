package sse

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/wire"
	"github.com/turncore/turncore/host/store"
)

// kinds are the kinds of events by name.
var kinds = named(event.Kind.String)

var (
	statuses     = named(event.Status.String)
	results      = named(event.GateResult.String)
	levels       = named(event.Level.String)
	callStatuses = named(event.CallStatus.String)
)

// named are numbers by their names.
func named[N ~uint8](name func(N) string) map[string]N {
	all := map[string]N{}
	for n := N(0); n < 64; n++ {
		if s := name(n); s != "" {
			all[s] = n
		}
	}
	return all
}

// instant is a time of the wire.
func instant(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// members reads the members of an event, until one is missing or has another type.
type members struct {
	name  string // of the event
	given map[string]json.RawMessage
	err   error
}

// read decodes a member into a variable. One that may be missing keeps the variable's value.
func (m *members) read(key string, to any, may bool) {
	v, there := m.given[key]
	if m.err != nil || !there && may {
		return
	}
	if !there || string(v) == "null" || json.Unmarshal(v, to) != nil {
		m.err = malformed("`" + key + "` of " + m.name + " is missing or has another type")
	}
}

func (m *members) text(key string) (s string) { m.read(key, &s, false); return s }

func (m *members) optional(key string) (s string) { m.read(key, &s, true); return s }

func (m *members) truth(key string) (b bool) { m.read(key, &b, false); return b }

func (m *members) number(key string) (n int) { m.read(key, &n, false); return n }

func (m *members) time(key string) time.Time {
	var ms int64
	m.read(key, &ms, false)
	return instant(ms)
}

// json is any value; nil for one that is missing and may be.
func (m *members) json(key string, may bool) json.RawMessage {
	v, there := m.given[key]
	if !there && !may && m.err == nil {
		m.err = malformed("`" + key + "` of " + m.name + " is missing")
	}
	return v
}

func (m *members) error(key string, may bool) error {
	v, there := m.given[key]
	if !there && may || m.err != nil {
		return nil
	}
	err, ok := ErrorFromJSON(v)
	if !ok {
		m.err = malformed("`" + key + "` of " + m.name + " must be an error")
	}
	return err
}

// span reads when something began; its end is the event's own time.
func (m *members) span() time.Time {
	m.number("durationMs")
	m.time("endedAt")
	return m.time("startedAt")
}

// chosen reads a name of several.
func chosen[N any](m *members, key string, of map[string]N) N {
	name := m.text(key)
	n, known := of[name]
	if !known && m.err == nil {
		m.err = malformed("`" + key + "` of " + m.name + " is \"" + name + "\"")
	}
	return n
}

func (m *members) execution() event.ToolExecution {
	return event.ToolExecution{
		ToolName: m.text("toolName"), CallID: m.text("callId"),
		ExecutionID: m.optional("executionId"), ProviderCallID: m.optional("providerCallId"),
	}
}

// eventFromJSON is the event of a JSON object, without what all events have in common; nil for an event of an unknown
// name, which a later version may have.
func eventFromJSON(kind event.Kind, given map[string]json.RawMessage, line []byte, h head, gate func(Gate) event.OpenGate) (event.Event, error) {
	m := &members{name: kind.String(), given: given}
	ev := m.event(kind, line, h, gate)
	if m.err != nil {
		return nil, m.err
	}
	return ev, nil
}

func (m *members) event(kind event.Kind, line []byte, h head, gate func(Gate) event.OpenGate) event.Event {
	switch kind {
	case event.KindToolCall:
		e := &event.ToolCall{
			ID: m.text("id"), Tool: m.text("tool"), Args: m.json("args", true), Checksum: m.text("checksum"),
			ExecutionID: m.optional("executionId"), ProviderCallID: m.optional("providerCallId"),
			IsComplete: m.truth("isComplete"), IsError: m.truth("isError"), CreatedAt: m.time("createdAt"),
			ResultsJSON: m.json("results", true),
		}
		e.Results = plain(e.ResultsJSON)
		return e
	case event.KindTurnStart:
		m.time("startedAt")
		return &event.TurnStart{}
	case event.KindDispatchStart:
		m.time("startedAt")
		return &event.DispatchStart{}
	case event.KindIterationStart:
		m.time("startedAt")
		return &event.IterationStart{}
	case event.KindTurnEnd:
		return &event.TurnEnd{Status: chosen(m, "status", statuses), StartedAt: m.span(), Err: m.error("error", true)}
	case event.KindDispatchEnd:
		return &event.DispatchEnd{
			Status: chosen(m, "status", statuses), Iterations: m.number("iterations"), StartedAt: m.span(),
			Err: m.error("error", true),
		}
	case event.KindIterationEnd:
		e := &event.IterationEnd{Status: chosen(m, "status", statuses), StartedAt: m.span()}
		var discarded []struct{ Op, Kind, ID string }
		m.read("discarded", &discarded, true)
		for _, d := range discarded {
			e.Discarded = append(e.Discarded, store.Delta{Op: store.Op(d.Op), Kind: d.Kind, ID: d.ID})
		}
		return e
	case event.KindToolExecutionStart:
		m.time("startedAt")
		return &event.ToolExecutionStart{ToolExecution: m.execution(), Args: m.json("args", false)}
	case event.KindToolExecutionEnd:
		return &event.ToolExecutionEnd{ToolExecution: m.execution(), IsError: m.truth("isError"), StartedAt: m.span()}
	case event.KindTurnGateOpen:
		shown := Gate{
			ID: m.text("gateId"), TurnID: h.turnID, Reason: m.text("reason"), Payload: m.json("payload", false),
			CreatedAt: m.time("createdAt"), Digest: m.text("digest"),
		}
		if m.err != nil {
			return nil
		}
		return &event.TurnGateOpen{Gate: gate(shown)}
	case event.KindTurnGateClosed:
		m.time("settledAt")
		return &event.TurnGateClosed{GateID: m.text("gateId"), Result: chosen(m, "result", results)}
	case event.KindLog:
		return &event.Log{
			Level: chosen(m, "level", levels), Type: m.text("kind"), Message: m.text("message"), Payload: m.json("payload", true),
		}
	case event.KindWarning:
		return &event.Warning{
			Source: m.text("source"), Type: m.text("kind"), Message: m.text("message"), Err: m.error("error", true),
			Payload: m.json("payload", true),
		}
	case event.KindError:
		return &event.Error{Err: m.error("error", false)}
	case event.KindGenerationStats:
		stats, err := appendRest([]byte{'{'}, 1, line)
		if err != nil {
			m.err = notJSON(err)
		}
		return &event.GenerationStats{Stats: append(stats, '}')}
	case event.KindModelCallStart:
		m.time("startedAt")
		return &event.ModelCallStart{ModelCall: m.model()}
	case event.KindModelCallEnd:
		e := &event.ModelCallEnd{
			ModelCall: m.model(), Status: chosen(m, "status", callStatuses), StartedAt: m.span(), Err: m.error("error", true),
		}
		m.read("httpStatus", &e.HTTPStatus, true)
		m.read("usage", &e.Usage, true)
		if _, there := m.given["firstTokenAt"]; there {
			e.FirstTokenAt = m.time("firstTokenAt")
		}
		return e
	}
	return nil
}

func (m *members) model() event.ModelCall {
	return event.ModelCall{Provider: m.optional("provider"), Model: m.text("model"), Attempt: m.number("attempt")}
}

// plain is JSON as plain data; nil for none.
func plain(text json.RawMessage) any {
	if text == nil {
		return nil
	}
	encoded, err := wire.Append(nil, text, "results")
	if err != nil {
		return nil
	}
	v, err := wire.Plain(encoded)
	if err != nil {
		return nil
	}
	return v
}

// ErrorFromJSON is the error of its JSON; ok is false for other JSON.
func ErrorFromJSON(text json.RawMessage) (err error, ok bool) { //nolint:revive // the error is the value
	var given struct {
		Code, Message *string
		Cause         json.RawMessage
	}
	if len(text) == 0 || json.Unmarshal(text, &given) != nil || given.Code == nil || given.Message == nil {
		return nil, false
	}
	e := &host.Error{Message: *given.Message, Status: 500}
	if info, known := abi.LookupCode(*given.Code); known {
		e.Code, e.Status, e.Fatal, e.Help = host.Code(*given.Code), info.Status, info.Fatal, info.Help
	} else {
		e.Name = *given.Code
	}
	if cause, ok := ErrorFromJSON(given.Cause); ok {
		e.Cause = cause
	}
	return e, true
}

// Refusal is the error in the body of a response that is a refusal: {"error": …}; nil if there is none with a code.
func Refusal(body []byte) error {
	var given struct{ Error json.RawMessage }
	if json.Unmarshal(body, &given) != nil {
		return nil
	}
	err, ok := ErrorFromJSON(given.Error)
	if e, _ := err.(*host.Error); !ok || e == nil || !strings.HasPrefix(string(e.Code), "E_") { //nolint:errorlint // it is
		return nil
	}
	return err
}
