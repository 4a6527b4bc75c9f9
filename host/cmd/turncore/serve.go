package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// loopback is a provider on this machine that lives as long as the command. It is an http.RoundTripper that sends every
// request there, whatever host its URL names: so nothing that is told about a turn depends on the port that was free.
type loopback struct {
	address   string
	server    *http.Server
	transport http.Transport
	cut       func(io.ReadCloser) io.ReadCloser // into what parts bodies are read; nil as they come
}

// serve starts a provider.
func serve(provider http.Handler) (*loopback, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		if listener, err = net.Listen("tcp", "[::1]:0"); err != nil {
			return nil, fmt.Errorf("serving on loopback: %w", err)
		}
	}
	l := &loopback{
		address: listener.Addr().String(),
		server:  &http.Server{Handler: provider, ReadHeaderTimeout: 10 * time.Second},
	}
	go func() { _ = l.server.Serve(listener) }() // ends with close
	return l, nil
}

// RoundTrip implements http.RoundTripper.
func (l *loopback) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.Host = "http", l.address, ""
	response, err := l.transport.RoundTrip(r)
	if err == nil && l.cut != nil {
		response.Body = l.cut(response.Body)
	}
	return response, err
}

func (l *loopback) close() {
	l.transport.CloseIdleConnections()
	_ = l.server.Close() // nobody waits for it any more
}
