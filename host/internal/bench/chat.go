package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/bench/figure"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/turns"
)

// part is how much of a response arrives at once, in bytes: some twenty deltas.
const part = 4 << 10

// provider answers the first request of a turn with a tool call and the second with deltas, from memory.
type provider struct {
	call, answer []byte
	part         int
	requests     int
}

const head = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1767225600,"model":"m","choices":[{"index":0,"delta":`

func newProvider(deltas, part int) *provider {
	p := &provider{part: part}
	p.call = []byte(head + `{"role":"assistant","tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"add","arguments":"{\"a\":1,\"b\":2}"}}]},"finish_reason":null}]}` + "\n\n" +
		head + `{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n")
	var b bytes.Buffer
	for range deltas {
		b.WriteString(head + `{"content":"a word "},"finish_reason":null}]}` + "\n\n")
	}
	b.WriteString(head + `{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
	p.answer = b.Bytes()
	return p
}

// RoundTrip implements http.RoundTripper.
func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	body := p.answer
	if p.requests++; p.requests%2 == 1 {
		body = p.call
	}
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(&parts{body, p.part}),
	}, nil
}

// parts reads so many bytes at a time.
type parts struct {
	rest []byte
	size int
}

func (p *parts) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.size)], p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// newChat returns a conversation with the chat executor. Each delta of a long answer is an event too.
func newChat(e host.Engine, deltas, part int) (*conversation, error) {
	h := turns.NewHost(turns.HostOptions{Engine: e, HTTP: newProvider(deltas, part)})
	c, err := newConversation(e, deltas, func(config *turns.TurnRunnerConfig) {
		config.Host, config.Executor = h, nil
		config.Chat = &model.ChatOptions{Model: "m", BaseURL: "http://provider/v1"}
	})
	if err == nil {
		c.host = h
	}
	return c, err
}

// ask runs a turn whose events are not counted one by one: what they are depends on the provider's deltas.
func (c *conversation) ask() error {
	return c.run(func(more int) bool { return more >= c.deltas })
}

// measureChat measures turns with the chat executor, and whether a long stream costs more for each byte than a short
// one.
func measureChat(p pace, e host.Engine) ([]figure.Row, error) {
	var subjects []*subject
	for _, v := range []struct {
		id     string
		deltas int
	}{{figure.Chat20, 20}, {figure.Chat500, 500}} {
		c, err := newChat(e, v.deltas, part)
		if err != nil {
			return nil, err
		}
		defer c.close()
		subjects = append(subjects, timed(v.id, c.ask))
	}
	if err := p.measure(subjects...); err != nil {
		return nil, err
	}
	delta := func(many, few float64) float64 { return max(many-few, 0) / 480 / 1000 }
	rows := []figure.Row{
		subjects[0].row(e.Name()), subjects[1].row(e.Name()),
		paired(figure.ChatDelta, e.Name(), figure.Micros, subjects[1], subjects[0], delta),
	}
	long, err := measureLong(p, e)
	return append(rows, long), err
}

// tiny is the size of the parts that a long stream arrives in, in bytes.
const tiny = 100

// measureLong compares what a delta costs in a stream of 10 MB and in one of 1 MB, both in tiny parts.
func measureLong(p pace, e host.Engine) (figure.Row, error) {
	size := len(head) + 50
	streams := [2]*conversation{}
	for i, deltas := range []int{p.stream / 10 / size, p.stream / size} {
		c, err := newChat(e, deltas, tiny)
		if err != nil {
			return figure.Row{}, err
		}
		defer c.close()
		streams[i] = c
	}
	var took [2]float64 // nanoseconds for each delta, the best of some
	for range 5 {
		for i, c := range streams {
			start := time.Now()
			if err := c.ask(); err != nil {
				return figure.Row{}, fmt.Errorf("a stream of %d deltas: %w", c.deltas, err)
			}
			each := float64(time.Since(start).Nanoseconds()) / float64(c.deltas)
			if took[i] == 0 || each < took[i] {
				took[i] = each
			}
		}
	}
	return single(e, figure.ChatLong, figure.Times, took[1]/took[0]), nil
}
