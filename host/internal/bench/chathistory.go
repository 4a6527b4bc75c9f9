package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/bench/figure"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// looping answers each request with a tool call, and the last one of a turn with a word.
type looping struct {
	requests int
	last     int // how many requests a turn has
	size     int // bytes of the last one of the last turn
}

// RoundTrip implements http.RoundTripper.
func (l *looping) RoundTrip(r *http.Request) (*http.Response, error) {
	l.requests++
	text := head + `{"tool_calls":[{"index":0,"id":"c` + strconv.Itoa(l.requests) + `","function":{"name":"add","arguments":"{\"a\":1,\"b\":2}"}}]},"finish_reason":"tool_calls"}]}`
	if l.requests%l.last == 0 {
		text = head + `{"content":"3"},"finish_reason":"stop"}]}`
		l.size = int(r.ContentLength)
	}
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader([]byte(text + "\n\ndata: [DONE]\n\n"))),
	}, nil
}

// measureChatHistory measures an iteration of the chat executor on 5,000 messages, whose request has them all. It is
// compared with one on a single message that makes the request as long, which does nothing about it but copy it.
func measureChatHistory(p pace, e host.Engine) ([]figure.Row, error) {
	none, _, done, err := chatIterating(e, nil, figure.ChatIter0)
	if err != nil {
		return nil, err
	}
	defer done()
	many, provider, done, err := chatIterating(e, messages(longHistory), figure.ChatIter5000)
	if err != nil {
		return nil, err
	}
	defer done()
	for range 2 { // the module's ids have grown to their usual length
		if _, err := many.sample(); err != nil {
			return nil, err
		}
	}
	size := provider.size
	text := strings.Repeat("In some words. ", size/15)
	one, provider, done, err := chatIterating(e, []*record.Message{record.NewMessage("h0", record.User, text, instant)}, figure.ChatCopy)
	if err != nil {
		return nil, err
	}
	defer done()
	if _, err := one.sample(); err != nil {
		return nil, err
	}
	if size < longHistory*50 || provider.size < size || provider.size > size+size/20 {
		return nil, fmt.Errorf("requests of %d and %d bytes: %w", size, provider.size, errUnexpected)
	}
	if err := p.measure(none, many, one); err != nil {
		return nil, err
	}
	return []figure.Row{
		none.row(e.Name()), many.row(e.Name()), one.row(e.Name()),
		paired(figure.ChatIterRatio, e.Name(), figure.Times, many, one, ratio),
	}, nil
}

// chatIterating measures an iteration of the chat executor: 50 of them to a turn that begins with a history, whose
// first and last are not counted.
func chatIterating(e host.Engine, history []*record.Message, id string) (s *subject, provider *looping, done func(), err error) {
	const iterations = 50
	provider = &looping{last: iterations + 2}
	h := turns.NewHost(turns.HostOptions{Engine: e, HTTP: provider})
	var begun time.Time
	var took time.Duration
	calls := 0
	c, err := newConversation(e, 0, func(config *turns.TurnRunnerConfig) {
		withMessages(history)(config)
		config.Host, config.Executor = h, nil
		config.Chat = &model.ChatOptions{Model: "m", BaseURL: "http://provider/v1"}
		handler := config.Tools[0].Handler
		config.Tools[0].Handler = func(ctx *turns.DispatchContext, args turns.Args) (any, error) {
			switch calls++; calls {
			case 1:
				begun = time.Now()
			case iterations + 1:
				took, calls = time.Since(begun), 0
			}
			return handler(ctx, args)
		}
	})
	if err != nil {
		return nil, nil, nil, err
	}
	c.host = h
	return &subject{figure: id, sample: func() (float64, error) {
		err := c.other()
		if err == nil && calls != 0 {
			err = fmt.Errorf("%d calls: %w", calls, errUnexpected)
		}
		return float64(took.Nanoseconds()) / iterations, err
	}}, provider, c.close, nil
}
