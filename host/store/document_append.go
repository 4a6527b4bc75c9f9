package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"strconv"

	"github.com/turncore/turncore/host"
)

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
		one("id", quoted(a.events[i].ID), "body", contentText(ownEvent(a.events[i].Body)))
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
func (d *document) appended() (*appendedParts, error) {
	a := &appendedParts{}
	for _, read := range []func(*document) error{a.readEvents, a.readState, a.readArtifacts} {
		if err := read(d); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (a *appendedParts) readEvents(d *document) error {
	list, err := d.list("events", "id", "body")
	ids := make(map[string]bool, len(list))
	for i := 0; i < len(list) && err == nil; i++ {
		var e SessionEvent
		if e.ID, err = list[i].text("id"); err != nil {
			return err
		}
		if ids[e.ID] {
			return list[i].wrong("id", "an earlier event has it")
		}
		ids[e.ID] = true
		if e.Body, err = list[i].content("body"); err != nil {
			return err
		}
		if why := wrongEvent(e.ID, e.Body); why != "" {
			return list[i].wrong("body", why)
		}
		e.Body = ownEvent(e.Body)
		a.events = append(a.events, e)
	}
	return err
}

func (a *appendedParts) readState(d *document) error {
	list, err := d.list("state", "name", "value")
	names := make(map[string]bool, len(list))
	size := 0
	for i := 0; i < len(list) && err == nil; i++ {
		var v StateValue
		if v.Name, err = list[i].text("name"); err != nil {
			return err
		}
		why := wrongName(v.Name)
		if names[v.Name] {
			why = "an earlier value has it"
		}
		if why != "" {
			return list[i].wrong("name", why)
		}
		names[v.Name] = true
		if v.Value, err = list[i].content("value"); err != nil {
			return err
		}
		size += len(v.Name) + len(v.Value)
		if why := wrongValue(v.Value, size); why != "" {
			return list[i].wrong("value", why)
		}
		a.state = append(a.state, v)
	}
	return err
}

func (a *appendedParts) readArtifacts(d *document) error {
	list, err := d.list("artifacts", "name", "version", "body", "content")
	versions := make(map[string]int)
	for i := 0; i < len(list) && err == nil; i++ {
		var v Artifact
		if v.Name, err = list[i].text("name"); err != nil {
			return err
		}
		v.Version = versions[v.Name]
		if n, ok := wholeIn(list[i].members["version"]); !ok || n != int64(v.Version) {
			return list[i].wrong("version", fmt.Sprintf("it is not %d", v.Version))
		}
		versions[v.Name]++
		if v.Body, err = list[i].content("body"); err != nil {
			return err
		}
		if why := wrongArtifact(v.Body); why != "" {
			return list[i].wrong("body", why)
		}
		content, err := list[i].content("content")
		if err != nil {
			return err
		}
		a.artifacts, a.contents = append(a.artifacts, v), append(a.contents, content)
	}
	return err
}

// check returns why a store cannot take the parts.
func (a *appendedParts) check(s Store, session string) error {
	if _, ok := s.(Appender); ok || a.empty() {
		return nil
	}
	why := fmt.Sprintf("session %q: the store keeps no events, state and artifacts", session)
	e := host.NewError(host.CodeRecordUnstorable, why, nil)
	e.Details = map[string]any{"session": session}
	return e
}

// append appends the parts to a session, each with the revision of the one before: another writer is a conflict.
func (a *appendedParts) append(ctx context.Context, s Store, session, revision string) (err error) {
	to, ok := s.(Appender)
	if !ok {
		return nil
	}
	add := func(one Append) bool {
		one.Revision = revision
		revision, err = to.Append(ctx, session, one)
		return err == nil
	}
	for i := range a.artifacts {
		v := a.artifacts[i]
		digest := sha256.Sum256(a.contents[i])
		v.Bytes = ContentID(digest[:])
		if err := s.PutBytes(ctx, session, v.Bytes, bytes.NewReader(a.contents[i])); err != nil {
			return err
		}
		if !add(Append{Artifacts: []Artifact{v}}) {
			return err
		}
	}
	if len(a.state) > 0 && !add(Append{State: a.state}) {
		return err
	}
	for i := range a.events {
		if !add(Append{Event: &a.events[i]}) {
			return err
		}
	}
	return nil
}
