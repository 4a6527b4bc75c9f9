package remote_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/remote"
	"github.com/turncore/turncore/host/turns"
)

// ask asks for a permission, and reports the answer.
func ask(d *turns.DispatchContext, h *turns.Helpers) error {
	answer, err := d.WaitFor(d, turns.Gate{ID: "send", Reason: "Send it?", Payload: "a letter", CreatedAt: time.Now()})
	if err != nil {
		return err
	}
	if err := h.ReportMessage("answer", fmt.Sprint("approved: ", answer), true); err != nil {
		return err
	}
	return d.Ack()
}

// newServer is a server whose turns ask for a permission.
func newServer() (listener *httptest.Server, closeAll func()) {
	runner, err := turns.New(context.Background(), turns.Config{Executor: ask, Engine: native.New()})
	if err != nil {
		log.Fatal(err)
	}
	server, err := remote.NewServer(runner, remote.ServerOptions{Continue: true})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/turns", server)
	mux.Handle("/turns/", server)
	listener = httptest.NewServer(mux)
	return listener, func() {
		listener.Close()
		_ = runner.Close()
	}
}

func ExampleNewServer() {
	listener, closeAll := newServer()
	defer closeAll()
	response, err := http.Post(listener.URL+"/turns/other/abort", "application/json", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	fmt.Println(response.Status)
	// Output: 404 Not Found
}

func ExampleConnect() {
	listener, closeAll := newServer()
	defer closeAll()
	client, err := remote.Connect(listener.URL+"/turns", remote.ClientOptions{})
	if err != nil {
		log.Fatal(err)
	}
	stream := client.Stream(context.Background(), remote.Input{Message: "Send the letter."})
	for ev, err := range stream.Events() {
		if err != nil {
			log.Fatal(err)
		}
		if open, ok := ev.(*event.TurnGateOpen); ok {
			fmt.Println(open.Gate.Reason())
			if err := open.Gate.Resolve(true); err != nil {
				log.Fatal(err)
			}
		}
	}
	result, err := stream.Result()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Status, result.Text)
	// Output:
	// Send it?
	// ack approved: true
}

func ExampleClient_Run() {
	client, err := remote.Connect("http://127.0.0.1:1/turns", remote.ClientOptions{Retries: remote.NoRetries})
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Run(context.Background(), remote.Input{Message: "Hi!"})
	fmt.Println(errors.Is(err, host.CodeTurnStreamCut))
	// Output: true
}

func ExampleClient_Gates() {
	listener, closeAll := newServer()
	defer closeAll()
	client, err := remote.Connect(listener.URL+"/turns", remote.ClientOptions{})
	if err != nil {
		log.Fatal(err)
	}
	client.Observe(event.KindTurnGateOpen, func(event.Event) {
		for _, gate := range client.Gates() {
			fmt.Println(gate.ID(), string(gate.Payload()))
			if err := gate.Abort(); err != nil {
				log.Fatal(err)
			}
		}
	})
	_, err = client.Run(context.Background(), remote.Input{Message: "Send the letter.", Session: "ada"})
	fmt.Println(errors.Is(err, host.CodeTurnGateAborted))
	// Output:
	// send "a letter"
	// true
}
