package agent

import (
	"errors"

	"github.com/turncore/turncore/runtime"
)

// Request is an HTTP request that the host sends, if the grant has its origin.
type Request struct {
	Method  string // empty: GET
	URL     string
	Headers [][2]string // names in lower case
	Body    []byte
	// Credential names a secret that the host adds; empty for none.
	Credential string
	// Max is how many bytes of the answer are read; 0 means 1 MiB. What is longer fails with [ErrTooLong].
	Max int
	// Idle is how many milliseconds a part of the answer may take; 0 means 30,000.
	Idle uint64
}

// Response is the answer to a [Request].
type Response struct {
	Status  int
	Headers [][2]string // names in lower case
	Body    []byte
}

// Header returns the first header of a name in lower case; empty for none.
func (r *Response) Header(name string) string {
	for _, h := range r.Headers {
		if h[0] == name {
			return h[1]
		}
	}
	return ""
}

// ErrTooLong is the error of an answer that is longer than the request allows.
var ErrTooLong = errors.New("the answer is longer than the request allows")

const (
	defaultMax  = 1 << 20
	defaultIdle = 30_000
)

// Do sends a request and reads the answer. It does not follow redirects. An answer of any status is no error.
func (c *Context) Do(r *Request) (*Response, error) {
	method, most, idle := r.Method, r.Max, r.Idle
	if method == "" {
		method = "GET"
	}
	if most == 0 {
		most = defaultMax
	}
	if idle == 0 {
		idle = defaultIdle
	}
	s, err := c.task.Request(&runtime.HTTPRequest{
		Context: c.number(), Method: method, URL: r.URL, Headers: r.Headers, Body: r.Body, Credential: r.Credential,
		Redirect: runtime.RedirectManual,
	})
	if err != nil {
		return nil, err
	}
	s.Idle(idle)
	var out Response
	for {
		chunk, more, err := s.Next()
		if err != nil {
			s.Cancel()
			return nil, err
		}
		if !more {
			return &out, nil
		}
		if chunk.Status != 0 {
			out.Status, out.Headers = chunk.Status, chunk.Headers
		}
		if len(out.Body)+len(chunk.Data) > most {
			s.Cancel()
			return nil, ErrTooLong
		}
		out.Body = append(out.Body, chunk.Data...)
	}
}
