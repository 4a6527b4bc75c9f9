package hosttest

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Response is the answer of a [Provider] to one request.
type Response struct {
	// Status is the HTTP status; 0 stands for 200.
	Status int
	// ContentType is the media type; empty stands for "text/event-stream".
	ContentType string
	// Header holds further header fields.
	Header http.Header
	// Body is sent unchanged, in pieces.
	Body string
	// Break, if not 0, breaks the connection after that many bytes of the body. -1 breaks it before the status.
	Break int
	// Pause is the time between two pieces.
	Pause time.Duration
	// Hold keeps the response open after the body, until the client goes away.
	Hold bool
}

// Request is a request to a [Provider].
type Request struct {
	Method, Path string
	Header       http.Header
	Body         []byte
}

// Provider is an HTTP server on loopback that gives scripted responses in order, whatever the requests say.
type Provider struct {
	// URL is the server's address, such as "http://127.0.0.1:40123". It has no path: append /v1 for a provider whose API
	// is there.
	URL string

	server *http.Server
	seed   uint64

	mu       sync.Mutex
	script   []Response
	requests []Request
}

// NewProvider starts a provider. It cuts the bodies into pieces of random size, from one byte on; the sizes depend
// only on the seed and the number of the request. A request after the last response gets status 500.
func NewProvider(seed uint64, script ...Response) (*Provider, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("hosttest: %w", err)
	}
	p := &Provider{URL: "http://" + listener.Addr().String(), seed: seed, script: slices.Clone(script)}
	p.server = &http.Server{Handler: http.HandlerFunc(p.serve), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = p.server.Serve(listener) }() // ends with Close
	return p, nil
}

// Close stops the server and breaks the connections that are open.
func (p *Provider) Close() error { return p.server.Close() }

// Requests returns the requests so far.
func (p *Provider) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// take records a request and returns its number, from 0, and its response.
func (p *Provider) take(r Request) (int, Response) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.requests)
	p.requests = append(p.requests, r)
	if n < len(p.script) {
		return n, p.script[n]
	}
	return n, Response{
		Status: http.StatusInternalServerError, ContentType: "text/plain",
		Body: "the script has no response to request " + strconv.Itoa(n+1),
	}
}

func (p *Provider) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone away
	}
	n, response := p.take(Request{Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: body})
	if response.Break < 0 {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), response.Header)
	w.Header().Set("Content-Type", cmp.Or(response.ContentType, "text/event-stream"))
	w.WriteHeader(cmp.Or(response.Status, http.StatusOK))

	flush := http.NewResponseController(w).Flush
	_ = flush() // a client that has gone away shows below
	rest := response.Body
	if response.Break > 0 {
		rest = rest[:min(response.Break, len(rest))]
	}
	for _, piece := range pieces(rest, rand.New(rand.NewPCG(p.seed, uint64(n)))) {
		if _, err := io.WriteString(w, piece); err != nil || flush() != nil {
			return
		}
		if response.Pause > 0 {
			select {
			case <-time.After(response.Pause):
			case <-r.Context().Done():
				return
			}
		}
	}
	if response.Break > 0 {
		panic(http.ErrAbortHandler)
	}
	if response.Hold {
		<-r.Context().Done()
	}
}

// pieces cuts a text at random bytes: mostly into short pieces, which split lines and characters, now and then into a
// longer one.
func pieces(text string, random *rand.Rand) []string {
	var list []string
	for len(text) > 0 {
		longest := 64
		if random.IntN(8) == 0 {
			longest = 4096
		}
		n := min(1+random.IntN(longest), len(text))
		list, text = append(list, text[:n]), text[n:]
	}
	return list
}
