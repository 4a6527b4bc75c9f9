package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/turncore/turncore/host"
)

// documentEvent, documentValue and documentArtifact are what a document has of an [Appender]. Bodies, values and contents
// are as bytes are.
type documentEvent struct {
	ID   string          `json:"id"`
	Body json.RawMessage `json:"body"`
}

type documentValue struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

type documentArtifact struct {
	Name    string          `json:"name"`
	Version int             `json:"version"`
	Body    json.RawMessage `json:"body"`
	Content json.RawMessage `json:"content"`
}

// appendedParts are the events of a session, and its own state and artifacts.
type appendedParts struct {
	events    []SessionEvent
	state     []StateValue
	artifacts []Artifact
	contents  [][]byte // of artifacts
}

func (a *appendedParts) empty() bool { return len(a.events)+len(a.state)+len(a.artifacts) == 0 }

// appendedTo reads what an [Appender] has of a session; nothing of another store.
func appendedTo(ctx context.Context, s Store, session string) (*appendedParts, error) {
	a := &appendedParts{}
	from, ok := s.(Appender)
	if !ok {
		return a, nil
	}
	var err error
	if a.events, err = from.Events(ctx, session, EventQuery{}); err != nil {
		return nil, err
	}
	if a.state, err = from.State(ctx, session, ""); err != nil {
		return nil, err
	}
	if a.artifacts, err = from.Artifacts(ctx, session, ""); err != nil {
		return nil, err
	}
	for i := range a.artifacts {
		content, size, err := from.OpenArtifact(ctx, session, "", a.artifacts[i].Name, a.artifacts[i].Version)
		if err != nil {
			return nil, err
		}
		all, err := io.ReadAll(io.NewSectionReader(content, 0, size))
		if err != nil {
			return nil, err
		}
		a.contents = append(a.contents, all)
	}
	return a, nil
}

// addTo adds the members that are not empty to a document.
func (a *appendedParts) addTo(e *exporter) {
	var list [][]byte
	add := func(name string) {
		if len(list) > 0 {
			e.addList(name, list)
		}
		list = nil
	}
	one := func(members ...any) {
		o := exporter{}
		for i := 0; i < len(members); i += 2 {
			o.add(members[i].(string), members[i+1].([]byte))
		}
		list = append(list, append(o.out, '}'))
	}
	for i := range a.events {
		one("id", quoted(a.events[i].ID), "body", contentText(a.events[i].Body))
	}
	add("events")
	for i := range a.state {
		one("name", quoted(a.state[i].Name), "value", contentText(a.state[i].Value))
	}
	add("state")
	for i := range a.artifacts {
		v := &a.artifacts[i]
		one("name", quoted(v.Name), "version", strconv.AppendInt(nil, int64(v.Version), 10),
			"body", contentText(v.Body), "content", contentText(a.contents[i]))
	}
	add("artifacts")
}

// appended reads the members of a document.
func (d *document) appended() (a *appendedParts, err error) {
	a = &appendedParts{}
	read := func(member string, i int, name string, raw json.RawMessage) (content []byte) {
		if err == nil {
			content, err = contentIn(fmt.Sprintf("%s[%d].%s", member, i, name), raw)
		}
		return content
	}
	for i, e := range d.Events {
		a.events = append(a.events, SessionEvent{ID: e.ID, Body: read("events", i, "body", e.Body)})
	}
	for i, v := range d.State {
		a.state = append(a.state, StateValue{Name: v.Name, Value: read("state", i, "value", v.Value)})
	}
	versions := make(map[string]int)
	for i, v := range d.Artifacts {
		if err == nil && v.Version != versions[v.Name] {
			err = noDocument(fmt.Sprintf("artifacts[%d].version: it is %d, not %d", i, v.Version, versions[v.Name]), nil)
		}
		versions[v.Name]++
		a.artifacts = append(a.artifacts, Artifact{Name: v.Name, Version: v.Version, Body: read("artifacts", i, "body", v.Body)})
		a.contents = append(a.contents, read("artifacts", i, "content", v.Content))
	}
	return a, err
}

// check returns why a store cannot take the parts.
func (a *appendedParts) check(ctx context.Context, s Store, session string) error {
	there, err := appendedTo(ctx, s, session)
	if err != nil {
		return err
	}
	if !there.empty() {
		return SessionExists(session)
	}
	if _, ok := s.(Appender); ok || a.empty() {
		return nil
	}
	why := fmt.Sprintf("session %q: the store keeps no events, state and artifacts", session)
	e := host.NewError(host.CodeRecordUnstorable, why, nil)
	e.Details = map[string]any{"session": session}
	return e
}

// append appends the parts to a session.
func (a *appendedParts) append(ctx context.Context, s Store, session string) error {
	to, ok := s.(Appender)
	if !ok || a.empty() {
		return nil
	}
	for i := range a.artifacts {
		v := a.artifacts[i]
		digest := sha256.Sum256(a.contents[i])
		v.Bytes = ContentID(digest[:])
		if err := s.PutBytes(ctx, session, v.Bytes, bytes.NewReader(a.contents[i])); err != nil {
			return err
		}
		if _, err := to.Append(ctx, session, Append{Artifacts: []Artifact{v}}); err != nil {
			return err
		}
	}
	if len(a.state) > 0 {
		if _, err := to.Append(ctx, session, Append{State: a.state}); err != nil {
			return err
		}
	}
	for i := range a.events {
		if _, err := to.Append(ctx, session, Append{Event: &a.events[i]}); err != nil {
			return err
		}
	}
	return nil
}
