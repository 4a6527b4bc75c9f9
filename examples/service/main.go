// Command service is an agent behind HTTP. A client posts a message and reads the turn's events as they come; a transfer
// waits until somebody approves it by a second request.
//
//	POST /turns                      {"session": "ada", "message": "…"}     → text/event-stream
//	POST /turns/{turn}/gates/{gate}  {"approve": true, "digest": "…"}
//
// SIGTERM lets the turns that run come to their end; no other turn starts meanwhile.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
	_ "github.com/turncore/turncore/wasm/core"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	runner, err := turns.New(ctx, turns.Config{
		Model: turns.Model{
			Name: os.Getenv("MODEL"), BaseURL: os.Getenv("MODEL_BASE_URL"), APIKey: os.Getenv("MODEL_API_KEY"),
		},
		System: "You are the assistant of a bank.",
		Tools:  []*turns.Tool{turns.NewTool("transfer", "Transfers money to a person", transfer)},
		Store:  store.NewInMemory(),
	})
	if err != nil {
		return err
	}
	defer runner.Close()

	listener, err := net.Listen("tcp", cmp.Or(os.Getenv("ADDRESS"), "localhost:8080"))
	if err != nil {
		return err
	}
	s := &service{runner}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /turns", s.start)
	mux.HandleFunc("POST /turns/{turn}/gates/{gate}", s.answer)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	fmt.Printf("http://%s\n", listener.Addr())

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	// The turns end first: those that wait at a gate need the server for its answer.
	drain, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return errors.Join(runner.Shutdown(drain), server.Shutdown(drain))
}

type transferArgs struct {
	To     string `json:"to" jsonschema:"the name of the person"`
	Amount int    `json:"amount" jsonschema:"the amount in euros"`
}

type receipt struct {
	Status string `json:"status"`
	Text   string `json:"text"`
}

// transfer waits for an approval before it does anything.
func transfer(ctx *turns.DispatchContext, args transferArgs) (receipt, error) {
	approved, err := ctx.WaitFor(ctx, turns.Gate{
		ID: "transfer", Reason: "Transfer the money?", Payload: map[string]any{"to": args.To, "amount": args.Amount},
		CreatedAt: time.Now(), Schema: `{"type":"boolean"}`, Timeout: 10 * time.Minute,
	})
	switch {
	case err != nil:
		return receipt{}, err
	case approved != true:
		return receipt{"refused", "the user refused"}, nil
	}
	return receipt{"done", fmt.Sprintf("%d euros are with %s", args.Amount, args.To)}, nil
}

type service struct{ runner *turns.Runner }

// start runs a turn and streams its events.
func (s *service) start(w http.ResponseWriter, r *http.Request) {
	var in struct{ Session, Message string }
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&in); err != nil || in.Message == "" {
		http.Error(w, "the body must be JSON with a message", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	// A client that goes away aborts its turn.
	stream := s.runner.Stream(r.Context(), turns.Input{Session: in.Session, Message: in.Message})
	for event, err := range stream.Events() {
		if err != nil {
			break // that of the result
		}
		line, err := json.Marshal(event)
		if err != nil {
			log.Print(err)
			continue
		}
		send(w, event.Kind().String(), line)
	}
	result, err := stream.Result()
	if err != nil {
		line, _ := json.Marshal(err.Error()) // a string can be encoded
		send(w, "failed", line)
		return
	}
	line, _ := json.Marshal(map[string]string{"status": result.Status.String(), "text": result.Text})
	send(w, "result", line)
}

// send writes an event of a text/event-stream.
func send(w http.ResponseWriter, event string, line []byte) {
	_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, line) // a client that is gone ends the turn by its context
	_ = http.NewResponseController(w).Flush()
}

// answer settles a gate.
func (s *service) answer(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Approve *bool
		Digest  string
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&in); err != nil || in.Approve == nil {
		http.Error(w, "the body must be JSON with approve", http.StatusBadRequest)
		return
	}
	gate, open := s.runner.GateOf(r.PathValue("turn"), r.PathValue("gate"))
	if !open {
		http.Error(w, "nobody waits for this answer", http.StatusNotFound)
		return
	}
	switch err := gate.ResolveShown(*in.Approve, in.Digest); {
	case errors.Is(err, turns.ErrGateSettled):
		http.Error(w, "somebody else has answered", http.StatusConflict)
	case err != nil: // the digest is missing or names something else
		http.Error(w, err.Error(), http.StatusBadRequest)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}
