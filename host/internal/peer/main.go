// Command peer is the Go side of tests in which Go and JavaScript talk to each other over HTTP.
//
//	peer serve         serves turns at an address that it prints, until its standard input ends
//	peer follow URL    plays turns on a server, and prints a line of JSON for each
//
// What a turn does its message says: see [executor]. The server in JavaScript has the same turns.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/remote"
	"github.com/turncore/turncore/host/turns"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "serve":
		return serve()
	case len(args) == 2 && args[0] == "follow":
		return follow(context.Background(), args[1])
	}
	return errors.New("usage: peer serve | follow URL")
}

func serve() error {
	runner, err := turns.New(context.Background(), turns.Config{Executor: executor(), Engine: native.New()})
	if err != nil {
		return err
	}
	defer runner.Close()
	server, err := remote.NewServer(runner, remote.ServerOptions{Continue: true})
	if err != nil {
		return err
	}
	listener := httptest.NewServer(server)
	defer listener.Close()
	fmt.Println(listener.URL + "/turns")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// executor does what the user's message says.
func executor() turns.Executor {
	var runs atomic.Int32
	return func(d *turns.DispatchContext, h *turns.Helpers) error {
		said := ""
		for m := range d.TurnMessages().All() {
			said = m.Content
		}
		switch said {
		case "plain":
			for _, word := range []string{"One ", "two ", "three"} {
				if err := h.ReportMessage("m", word, false); err != nil {
					return err
				}
			}
		case "tool":
			yes := false
			err := h.ReportToolCall("c", event.ToolCallReport{
				Tool: "add", Args: map[string]any{"a": 1, "b": 2}, Results: 3, IsError: &yes, IsComplete: true,
			})
			if err != nil {
				return err
			}
		case "gate":
			answer, err := d.WaitFor(d, turns.Gate{
				ID: "may/I", Reason: "May I?", Payload: map[string]any{"n": 1}, CreatedAt: time.Now(), Schema: `{"type":"string"}`,
			})
			if err != nil {
				return err
			}
			if err := h.ReportMessage("m", fmt.Sprint(answer), false); err != nil {
				return err
			}
		case "abort":
			if err := h.ReportMessage("m", "word", false); err != nil {
				return err
			}
			<-d.Done()
			return nil
		case "count":
			if err := h.ReportMessage("m", fmt.Sprint(runs.Add(1)), false); err != nil {
				return err
			}
		case "error":
			return d.Nack(host.NewError(host.CodeLLMExecutionExecutorError, "no luck", nil))
		}
		if err := h.ReportMessage("m", "", true); err != nil {
			return err
		}
		return d.Ack()
	}
}

// played is what the client saw of a turn.
type played struct {
	Name   string   `json:"name"`
	Status string   `json:"status"`
	Text   string   `json:"text"`
	Tools  []string `json:"tools,omitempty"`
	Error  string   `json:"error,omitempty"`
	Kinds  string   `json:"kinds,omitempty"`
}

// follow plays turns on a server.
func follow(ctx context.Context, url string) error {
	out := json.NewEncoder(os.Stdout)
	network := &cutting{next: http.DefaultTransport}
	client, err := remote.Connect(url, remote.ClientOptions{
		HTTP: &http.Client{Transport: network}, RetryDelay: func(int) time.Duration { return 0 },
	})
	if err != nil {
		return err
	}
	play := func(name, message, id string, each func(event.Event) error) error {
		shown := played{Name: name}
		stream := client.Stream(ctx, remote.Input{Message: message, TurnID: id})
		for ev, err := range stream.Events() {
			if err != nil {
				break // the result has it
			}
			// A message that comes in more pieces is the same message.
			if kind := ev.Kind().String() + " "; !strings.HasSuffix(shown.Kinds, kind) {
				shown.Kinds += kind
			}
			if err := each(ev); err != nil {
				return err
			}
		}
		result, err := stream.Result()
		if result == nil {
			return err
		}
		shown.Status, shown.Text = result.Status.String(), result.Text
		for _, call := range result.ToolCalls {
			shown.Tools = append(shown.Tools, call.Tool+string(call.Args)+string(call.ResultsJSON))
		}
		var coded *host.Error
		if errors.As(err, &coded) {
			shown.Error = string(coded.Code)
		}
		if message != "plain" {
			shown.Kinds = ""
		}
		return out.Encode(shown)
	}
	nothing := func(event.Event) error { return nil }
	aborting := func(ev event.Event) error {
		if ev.Kind() == event.KindMessage {
			return post(ctx, url+"/go-abort/abort")
		}
		return nil
	}
	settling := func(ev event.Event) error {
		open, ok := ev.(*event.TurnGateOpen)
		if !ok {
			return nil
		}
		if err := open.Gate.Resolve(7); !errors.Is(err, host.CodeInvalidTurnGateResolution) {
			return fmt.Errorf("a number for a text: %w", err)
		}
		return open.Gate.Resolve("yes")
	}
	if err := errors.Join(
		play("plain", "plain", "", nothing),
		play("tool", "tool", "", nothing),
		play("gate", "gate", "", settling),
		play("abort", "abort", "go-abort", aborting),
		play("error", "error", "", nothing),
		play("count", "count", "go-count", nothing),
		play("retry", "count", "go-count", nothing),
	); err != nil {
		return err
	}
	for network.after = 1; ; network.after += 37 {
		network.cuts = 0
		if err := play("reconnect", "plain", fmt.Sprintf("go-cut-%d", network.after), nothing); err != nil {
			return err
		}
		if network.cuts == 0 { // the response is shorter
			return nil
		}
	}
}

func post(ctx context.Context, url string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// cutting is a network that cuts the first response of a turn after so many bytes; 0 for never.
type cutting struct {
	next  http.RoundTripper
	after int
	cuts  int
}

// RoundTrip implements http.RoundTripper.
func (c *cutting) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := c.next.RoundTrip(r)
	if err != nil || c.after == 0 || c.cuts > 0 {
		return response, err
	}
	whole, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, err
	}
	body := io.Reader(bytes.NewReader(whole))
	if c.after < len(whole) {
		c.cuts++
		body = io.MultiReader(bytes.NewReader(whole[:c.after]), broken{})
	}
	response.Body = io.NopCloser(body)
	return response, nil
}

// broken is a connection that is cut.
type broken struct{}

// Read implements io.Reader.
func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
