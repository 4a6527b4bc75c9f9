package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"github.com/turncore/turncore/host/internal/recording"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// givenTag tags what the provider openai keeps to give it back to the host of an address.
func givenTag(baseURL string) string {
	host := "api.openai.com"
	if u, err := url.Parse(baseURL); err == nil && u.Hostname() != "" {
		host = u.Hostname()
	}
	return "chat-completions-reasoning-v1@" + host
}

// history is what was said before the user's message, as records that are a millisecond apart and before now.
type history struct {
	given   string // tag of what the provider gave to have it back
	now, n  int64
	writes  []store.Delta
	ids     map[string]bool // of the calls
	message map[int]string  // ids of messages by the number of the recorded message
	group   map[int]string  // likewise of the first call
}

// store puts what was said before the user's message into a store.
func (p *player) store(s store.Store, now int64) error {
	records, err := p.records(now)
	if err != nil {
		return err
	}
	_, err = s.Commit(context.Background(), turns.DefaultSession, store.Commit{Deltas: records})
	return err
}

// records are what was said before the user's message.
func (p *player) records(now int64) ([]store.Delta, error) {
	entries := p.conversation.History
	h := &history{given: givenTag(p.conversation.BaseURL), now: now, n: int64(len(entries)), ids: map[string]bool{}, message: map[int]string{}, group: map[int]string{}}
	for i, entry := range entries {
		if err := h.add(i, entry); err != nil {
			return nil, fmt.Errorf("message %d of the recorded history: %w", entry.Message, err)
		}
	}
	return h.writes, nil
}

func (h *history) add(i int, entry recording.Entry) error {
	at := time.UnixMilli(h.now - h.n + int64(i)).UTC()
	id := fmt.Sprintf("history-%d", i)
	switch {
	case entry.Call != nil:
		return h.addCall(id, entry, at)
	case entry.Thought != "" || entry.Given != nil:
		t := &record.Thought{ID: id, Content: entry.Thought, CreatedAt: at, UpdatedAt: at}
		if entry.Given != nil {
			t.Payload, t.ReplayCompatibility = entry.Given, h.given
		}
		h.writes = append(h.writes, store.Delta{Op: store.OpStore, Kind: "thought", ID: id, Record: t})
	default:
		m := record.NewMessage(id, record.Role(entry.Role), entry.Content, at)
		m.Identity, m.Attachments = speaker(entry.Name), attachments(entry.Message, entry.Media)
		h.message[entry.Message] = id
		h.writes = append(h.writes, store.Delta{Op: store.OpStore, Kind: "message", ID: id, Record: m})
	}
	return nil
}

// say gives a turn what the recorded user says: nothing where all is history.
func (p *player) say(in *turns.TurnInput, now int64) {
	c := p.conversation
	if len(c.UserMedia) == 0 && (c.User == "" || c.UserName == "") {
		in.Text = c.User
		return
	}
	in.Message = record.NewMessage("recorded-user", record.User, c.User, time.UnixMilli(now).UTC())
	in.Message.Identity, in.Message.Attachments = speaker(c.UserName), attachments(c.UserMessage, c.UserMedia)
}

// attachments are the media of a recorded message.
func attachments(message int, list []recording.Media) (media []*record.Media) {
	for k, m := range list {
		one := record.UserAttachment(record.MediaKind(m.Kind), m.MimeType, m.Filename, record.NewBlob(m.Data))
		one.ID, one.Source = recording.MediaID(message, k), m.Source
		media = append(media, one)
	}
	return media
}

// goOn adds what the recorded client says before the next request, after all that was said and done.
func (p *player) goOn(ctx *turns.DispatchContext, entries []recording.Entry) error {
	for _, entry := range entries {
		at := p.now()
		for _, m := range ctx.TurnMessages().Slice() {
			at = max(at, m.CreatedAt.UnixMilli()+1)
		}
		for _, c := range ctx.TurnToolCalls().Slice() {
			at = max(at, c.CreatedAt.UnixMilli()+1)
		}
		if err := ctx.StoreMessage(saying(entry, at)); err != nil {
			return err
		}
	}
	return nil
}

// saying is what the user says in the midst of the turn.
func saying(entry recording.Entry, at int64) *record.Message {
	m := record.NewMessage(fmt.Sprintf("recorded-user-%d", entry.Message), record.User, entry.Content, time.UnixMilli(at).UTC())
	m.Identity, m.Attachments = speaker(entry.Name), attachments(entry.Message, entry.Media)
	return m
}

// speaker is who has a name in a recorded message, nil for nobody.
func speaker(name string) *record.Identity {
	if name == "" {
		return nil
	}
	return &record.Identity{Identifier: name, Representation: name}
}

// addCall adds a call. Its record has the recorded id unless that is missing or taken.
func (h *history) addCall(id string, entry recording.Entry, at time.Time) error {
	c := entry.Call
	payload := map[string]any{}
	if c.ID != "" && !h.ids[c.ID] {
		id = c.ID
	} else if c.ID != "" {
		payload["id"] = c.ID
	}
	h.ids[id] = true
	// This is how the chat executor notes which calls were made by one answer.
	if h.group[entry.Message] == "" {
		h.group[entry.Message] = id
	}
	payload["group"] = h.group[entry.Message]
	if message := h.message[entry.Message]; message != "" {
		payload["message"] = message
	}
	if c.Given != nil {
		payload[h.given] = c.Given
	}
	args := c.Args
	if !isObject(args) {
		payload["rejected"] = string(args)
		args = json.RawMessage("{}")
	}
	sum, err := record.ToolCallChecksum(c.Tool, args)
	if err != nil {
		return err
	}
	call := &record.ToolCall{
		ID: id, Tool: c.Tool, Args: args, Checksum: sum, IsComplete: true, Results: c.Result,
		Payload: payload, ReplayCompatibility: "chat-completions-v1",
		CreatedAt: at, UpdatedAt: at, CompletedAt: at,
	}
	h.writes = append(h.writes, store.Delta{Op: store.OpStore, Kind: "toolCall", ID: id, Record: call})
	return call.Validate()
}

func isObject(text json.RawMessage) bool {
	var v map[string]json.RawMessage
	return json.Unmarshal(text, &v) == nil && v != nil
}
