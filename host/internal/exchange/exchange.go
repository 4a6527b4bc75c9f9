// Package exchange sends the core's HTTP requests: where it may, with the credentials that it only knows by name, and
// with the media that belong in their bodies.
package exchange

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/model"
)

// Client sends requests.
type Client struct {
	// Transport is what they go through. nil means http.DefaultTransport.
	Transport http.RoundTripper
	// Route says what a request goes through instead, or refuses it; nil for no such rule. It is asked about each request,
	// also about one that a redirect asks for, with the name of the credential that goes with it and its body.
	Route func(r *http.Request, credential string, body []byte) (http.RoundTripper, error)
	// Credentials are those that requests may name.
	Credentials map[string]model.Credential
}

// Do sends a request, with the media that belong in its body, to where it is allowed to go. It passes on what comes
// back, at most so many bytes at once, while that is wanted.
func (c *Client) Do(ctx context.Context, args *abi.HTTPArgs, media []Splice, allow func(origin string) bool, most int, pass func(*abi.Chunk) bool) error {
	r, err := c.newRequest(args, allow)
	if err != nil {
		return err
	}
	if r.body, err = Insert(ctx, r.body, media); err != nil {
		return r.failure(ctx, err)
	}
	resp, err := r.send(ctx)
	if err != nil {
		return r.failure(ctx, err)
	}
	defer resp.Body.Close()
	if !pass(&abi.Chunk{Status: uint16(resp.StatusCode), Headers: headers(resp.Header, r.secret)}) {
		return context.Canceled
	}
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	*room = slices.Grow(*room, most)
	buf := (*room)[:most]
	for {
		n, err := resp.Body.Read(buf)
		data := r.secret.write(buf[:n])
		if err != nil {
			data = append(data[:len(data):len(data)], r.secret.rest()...)
		}
		for part := range slices.Chunk(data, len(buf)) {
			if !pass(&abi.Chunk{Data: abi.Bytes(part)}) {
				return context.Canceled
			}
		}
		switch {
		case err == io.EOF: // wrapped, it is a connection that broke
			return nil
		case err != nil:
			return r.failure(ctx, err)
		}
	}
}

// rooms are what answers are read into: a buffer for each request would soon have the collector run.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

// Failure is what the core is told of a request that could not be made up.
func Failure(ctx context.Context, err error) error { return (&request{}).failure(ctx, err) }

// failure is what the core is told when a request ends before its answer does. It never holds the secret.
func (r *request) failure(ctx context.Context, err error) error {
	var refused *host.Error
	switch {
	case ctx.Err() != nil:
		return context.Canceled
	case errors.As(err, &refused):
		return refused
	}
	// The text of a *url.Error begins with the URL, which is nobody's business but the caller's.
	cause := err
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		cause = wrapped.Err
	}
	detail := r.secret.text(cause.Error())
	for inner := cause; inner != nil; inner = errors.Unwrap(inner) {
		if text := inner.Error(); r.secret.text(text) != text {
			return host.NewError(abi.CodeHTTPTransport, detail, nil)
		}
	}
	return host.NewError(abi.CodeHTTPTransport, detail, cause)
}

// headers are a head's names and values, by name, values of one name joined, without the secret. Cookies stay behind:
// the core keeps none.
func headers(h http.Header, secret *redactor) [][]string {
	var list [][]string
	for name, values := range h {
		name = strings.ToLower(name)
		if name == "set-cookie" || name == "set-cookie2" {
			continue
		}
		list = append(list, []string{name, secret.text(strings.Join(values, ", "))})
	}
	slices.SortFunc(list, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return list
}
