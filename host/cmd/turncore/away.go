package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// awayEngines run the core in a process of JavaScript. They play recordings only, and need a checkout of the project:
// their players are programs beside its tests.
var awayEngines = []string{"node", "chromium"}

// playersFolder holds the players, below the root of a checkout.
const playersFolder = "js/test/recording"

// stage is what a player in another process asks for: how the turn begins, what tools answer, and what comes after an
// iteration. Everything else that it asks goes to the recorded provider.
type stage struct {
	*player
	beginning []byte
}

// ServeHTTP implements http.Handler.
func (s *stage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// A page that plays has an origin of its own.
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Access-Control-Allow-Headers", "*")
	switch {
	case r.Method == http.MethodOptions:
	case r.URL.Path == "/-/beginning":
		_, _ = w.Write(s.beginning) // a player that has gone is noticed by its exit
	case r.URL.Path == "/-/answer":
		serveJSON(w, r, func(call struct {
			Tool string
			Args json.RawMessage
		},
		) any {
			return s.answer(call.Tool, call.Args)
		})
	case r.URL.Path == "/-/next":
		serveJSON(w, r, func(at struct{ Latest int64 }) any {
			over, entries := s.next()
			said := []any{}
			for i, entry := range entries {
				said = append(said, messageJSON(saying(entry, max(s.now(), at.Latest+1)+int64(i))))
			}
			return map[string]any{"over": over, "said": said}
		})
	default:
		s.server.ServeHTTP(w, r)
	}
}

func serveJSON[T any](w http.ResponseWriter, r *http.Request, answer func(T) any) {
	var question T
	if err := json.NewDecoder(r.Body).Decode(&question); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(answer(question)) // as above
}

// away plays a recording on an engine of another process.
func (c *command) away(o *runFlags) error {
	program, err := findPlayer(o.engine.name)
	if err != nil {
		return err
	}
	clock := host.SystemClock()
	if o.fixedClock {
		clock = host.FixedClock(host.FixedTime)
	}
	p, err := newPlayer(o.recording, o.partsSeed(), clock)
	if err != nil {
		return err
	}
	beginning, err := p.beginning(o)
	if err != nil {
		return err
	}
	server, err := serve(&stage{p, beginning})
	if err != nil {
		return err
	}
	defer server.close()

	ctx, stop := interruptible()
	defer stop()
	s := newScreen(c.stdout, c.stderr, c.getenv)
	log := &endReader{}
	process := exec.CommandContext(ctx, "node", program, "http://"+server.address)
	process.Stdout, process.Stderr = log, c.stderr
	if o.json {
		process.Stdout = io.MultiWriter(c.stdout, log)
	}
	if err := process.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return fmt.Errorf("the player on %s: %w", o.engine.name, err)
	}
	result, err := log.result()
	if err != nil {
		return fmt.Errorf("the player on %s: %w", o.engine.name, err)
	}
	return p.verdict(s, result, o)
}

// findPlayer looks for a player in the folder that the command runs in, and above.
func findPlayer(engine string) (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		program := filepath.Join(folder, filepath.FromSlash(playersFolder), engine+".mjs")
		if _, err := os.Stat(program); err == nil {
			return program, nil
		}
		above := filepath.Dir(folder)
		if above == folder {
			return "", usagef("run", "the engine %s is for a checkout of Turncore: there is no %s/%s.mjs here or above", engine, playersFolder, engine)
		}
		folder = above
	}
}

// beginning is what a player begins with, as JSON.
func (p *player) beginning(o *runFlags) ([]byte, error) {
	now := p.now()
	deltas, err := p.records(now)
	if err != nil {
		return nil, err
	}
	records := []any{}
	for _, d := range deltas {
		record, err := recordJSON(d.Record)
		if err != nil {
			return nil, err
		}
		records = append(records, map[string]any{"kind": d.Kind, "record": record})
	}
	tools := []any{}
	for _, t := range p.tools() {
		tools = append(tools, map[string]any{"name": t.Name, "description": t.Description, "jsonSchema": t.InputSchema})
	}
	model := p.model()
	chat := map[string]any{"model": model.Name}
	if model.BaseURL != "" {
		chat["baseURL"] = model.BaseURL
	}
	maps.Copy(chat, model.Options)
	var in turns.TurnInput
	p.say(&in, now)
	var message any
	switch {
	case in.Message != nil:
		message = messageJSON(in.Message)
	case in.Text != "":
		message = in.Text
	}
	bound := any(o.maxIterations)
	if o.maxIterations <= 0 { // the recording ends
		bound = false
	}
	var seed any // of ids
	if o.seeded {
		seed = o.seed
	}
	return json.Marshal(map[string]any{
		"model": chat, "tools": tools, "hidden": append([]string{}, p.hidden...), "records": records, "message": message,
		"systemPrompt": p.conversation.System, "maxIterations": bound,
		"seed": seed, "partsSeed": o.partsSeed(), "fixedClock": o.fixedClock, "log": o.log,
	})
}

func recordJSON(r any) (any, error) {
	switch r := r.(type) {
	case *record.Message:
		return messageJSON(r), nil
	case *record.Thought:
		thought := map[string]any{
			"id": r.ID, "content": r.Content, "createdAt": r.CreatedAt.UnixMilli(), "updatedAt": r.UpdatedAt.UnixMilli(),
		}
		if r.Payload != nil {
			thought["payload"], thought["replayCompatibility"] = r.Payload, r.ReplayCompatibility
		}
		return thought, nil
	case *record.ToolCall:
		return map[string]any{
			"id": r.ID, "tool": r.Tool, "args": r.Args, "checksum": r.Checksum, "isComplete": r.IsComplete, "isError": r.IsError,
			"results": r.Results, "payload": r.Payload, "replayCompatibility": r.ReplayCompatibility,
			"createdAt": r.CreatedAt.UnixMilli(), "updatedAt": r.UpdatedAt.UnixMilli(), "completedAt": r.CompletedAt.UnixMilli(),
		}, nil
	}
	return nil, fmt.Errorf("a recording has no %T", r)
}

func messageJSON(m *record.Message) any {
	message := map[string]any{
		"id": m.ID, "role": m.Role, "createdAt": m.CreatedAt.UnixMilli(), "updatedAt": m.UpdatedAt.UnixMilli(),
	}
	if m.Content != "" {
		message["content"] = m.Content
	}
	if m.Identity != nil {
		message["identity"] = m.Identity.Identifier
	}
	var list []any
	for _, a := range m.Attachments {
		list = append(list, map[string]any{
			"id": a.ID, "kind": a.Kind, "mimeType": a.MimeType, "filename": a.Filename, "source": a.Source, "data": mediaBytes(a),
		})
	}
	if list != nil {
		message["attachments"] = list
	}
	return message
}

// mediaBytes are a media's bytes, which are in memory.
func mediaBytes(m *record.Media) []byte {
	body, err := m.Reader.Open()
	if err != nil {
		return nil
	}
	defer body.Close()
	data, _ := io.ReadAll(body)
	return data
}

// endReader keeps the last line of an event log.
type endReader struct {
	mu   sync.Mutex
	line []byte // up to a line end, if it is whole
}

// Write implements io.Writer.
func (e *endReader) Write(text []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for part := range bytes.Lines(text) {
		if bytes.HasSuffix(e.line, []byte("\n")) {
			e.line = e.line[:0]
		}
		e.line = append(e.line, part...)
	}
	return len(text), nil
}

// result is what the last line says.
func (e *endReader) result() (*turns.Result, error) {
	var end struct {
		Event, Status string
		Iterations    int
		Error         *struct{ Code, Message string }
	}
	if err := json.Unmarshal(e.line, &end); err != nil || end.Event != "end" {
		return nil, errors.New("its event log has no end")
	}
	result := &turns.Result{Iterations: end.Iterations}
	statuses := []event.Status{event.Ack, event.Nack, event.Aborted, event.Failed}
	i := slices.IndexFunc(statuses, func(s event.Status) bool { return s.String() == end.Status })
	if i < 0 {
		return nil, fmt.Errorf("its turn ended with %q", end.Status)
	}
	result.Status = statuses[i]
	if end.Error != nil {
		result.Err = &host.Error{Name: end.Error.Code, Message: end.Error.Message}
	}
	return result, nil
}
