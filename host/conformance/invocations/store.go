package invocations

import (
	"context"
	"errors"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/conformance"
	"github.com/turncore/turncore/host/internal/wire"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/store"
)

// keeper is the store of a scenario. It writes appends to the log, and has the scenario's faults.
type keeper struct {
	sessions.Store
	game *game
}

var (
	errFull = errors.New("the disk is full")
	errLost = errors.New("the connection is lost")
	errGone = errors.New("the process is gone")
)

// Append writes the append to the log, with how many bytes the event has.
func (k *keeper) Append(ctx context.Context, session string, a store.Append) (string, error) {
	k.game.appends++
	appends, fault := k.game.appends, k.game.Fault
	if appends == fault.Writer {
		k.other(ctx, session)
	}
	line := appendLine(session, &a)
	var revision string
	err := errFull
	if appends != fault.Fails {
		revision, err = k.Store.Append(ctx, session, a)
	}
	if err != nil {
		line["threw"] = described(err)
	} else if appends == fault.Lost {
		line["lost"] = true
		err = errLost
	}
	k.game.write(byStore, line)
	if appends == fault.Dies {
		k.game.vanish()
		return "", errGone
	}
	return revision, err
}

// other appends what somebody else has to say.
func (k *keeper) other(ctx context.Context, session string) {
	said := sessions.Event{ID: "other", Author: "user", Content: sessions.Text("meanwhile")}
	body, err := wire.Append(nil, plain(&said), "event")
	if err != nil {
		k.game.malformed("%v", err)
		return
	}
	a := store.Append{Event: &store.SessionEvent{ID: said.ID, Body: body}}
	line := appendLine(session, &a)
	line["other"] = true
	if _, err := k.Store.Append(ctx, session, a); err != nil {
		line["threw"] = described(err)
	}
	k.game.write(byStore, line)
}

func appendLine(session string, a *store.Append) conformance.Line {
	line := conformance.Line{"session": session}
	if a.Event != nil {
		line["append"] = decoded(a.Event.Body)
		line["bytes"] = len(a.Event.Body)
	}
	var state, artifacts []any
	for _, v := range a.State {
		state = append(state, []any{v.Scope, v.Name, decoded(v.Value)})
	}
	for _, v := range a.Artifacts {
		artifacts = append(artifacts, []any{v.Scope, v.Name, v.Version})
	}
	if len(state) > 0 {
		line["state"] = state
	}
	if len(artifacts) > 0 {
		line["artifacts"] = artifacts
	}
	return line
}

// decoded is a value that a store keeps, as JSON would read it.
func decoded(v []byte) any {
	if v == nil {
		return nil
	}
	text, err := value.AppendJSON(nil, v)
	if err != nil {
		return "invalid: " + err.Error()
	}
	return plainOf(string(text))
}
