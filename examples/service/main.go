// Command service is an agent behind HTTP. A client posts a message and reads the turn's events as they come; a
// transfer waits until somebody approves it by a second request.
//
//	POST /turns                      {"sessionId": "ada", "message": "…"}  → text/event-stream
//	GET  /turns/{turn}/events        with Last-Event-ID                    → the rest of it
//	POST /turns/{turn}/gates/{gate}  {"value": true, "digest": "…"}
//	POST /turns/{turn}/abort
//
// remote.Connect in Go and connect of turncore/remote in JavaScript are its clients. One that goes away aborts its
// turn. SIGTERM lets the turns that run come to their end; no other turn starts meanwhile.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/turncore/turncore/host/remote"
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
	handler, err := remote.NewServer(runner, remote.ServerOptions{})
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
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
