package turns

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
)

// Credential is a secret that requests of the core may carry. The core only ever knows its name.
type Credential struct {
	Header  string   // "authorization" if empty
	Value   string   // of the header
	Origins []string // it is sent to, like "https://api.example.com"
}

// Bearer returns the credential of a bearer token.
func Bearer(token string, origins ...string) Credential {
	return Credential{Value: "Bearer " + token, Origins: origins}
}

func (c *Credential) header() string {
	if c.Header == "" {
		return "authorization"
	}
	return c.Header
}

// maxChunk is the largest part of a body that goes to the core at once, in bytes.
const maxChunk = 64 << 10

// maxRedirects is how many redirects a request follows.
const maxRedirects = 10

// originOf is a URL's origin, "" if requests can not go there.
func originOf(u *url.URL) string {
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if host == "" || scheme != "http" && scheme != "https" {
		return ""
	}
	if port := u.Port(); scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return scheme + "://" + host
}

// allowed tells whether a request may go to an origin.
func (h *Host) allowed(origin string) error {
	if origin == "" || h.options.AllowOrigin != nil && !h.options.AllowOrigin(origin) {
		return newError(abi.CodeHTTPNotAllowed, origin, nil)
	}
	return nil
}

// credential returns the credential of a name, if it may go to the origin.
func (h *Host) credential(name, origin string) (Credential, error) {
	c, known := h.options.Credentials[name]
	if !known || !slices.ContainsFunc(c.Origins, func(o string) bool { return strings.EqualFold(strings.TrimSuffix(o, "/"), origin) }) {
		return Credential{}, newError(abi.CodeCredentialUnknown, name+" for "+origin, nil)
	}
	return c, nil
}

// request sends a request of the core and hands it what comes back.
func (e *effect) request(ctx context.Context, args *abi.HTTPArgs) error {
	h := e.turn.core.host
	body, err := abi.BytesOf(args.Body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, args.Method, args.URL, bytes.NewReader(body))
	if err != nil {
		return newError(abi.CodeHTTPNotAllowed, err.Error(), err)
	}
	origin := originOf(req.URL)
	if err := h.allowed(origin); err != nil {
		return err
	}
	for _, pair := range args.Headers {
		if len(pair) == 2 {
			req.Header.Add(pair[0], pair[1])
		}
	}
	client := &http.Client{Transport: h.options.HTTP, CheckRedirect: h.checkRedirect(args.Credential)}
	if args.Credential != "" {
		c, err := h.credential(args.Credential, origin)
		if err != nil {
			return err
		}
		req.Header.Set(c.header(), c.Value)
	}
	resp, err := client.Do(req)
	if err != nil {
		return transportError(ctx, err)
	}
	defer resp.Body.Close()
	if !e.send(&abi.Chunk{Status: uint16(resp.StatusCode), Headers: headers(resp.Header)}) {
		return context.Canceled
	}
	buf := make([]byte, min(maxChunk, e.turn.core.maxBody()))
	for {
		n, err := resp.Body.Read(buf)
		if n > 0 && !e.send(&abi.Chunk{Data: abi.Bytes(buf[:n])}) {
			return context.Canceled
		}
		switch {
		case err == io.EOF: // wrapped, it is a connection that broke
			return nil
		case err != nil:
			return transportError(ctx, err)
		}
	}
}

// checkRedirect checks where a redirect leads as if it were a request, and takes the credential off one that leaves the
// origins it is for.
func (h *Host) checkRedirect(credential string) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return newError(abi.CodeHTTPNotAllowed, "too many redirects", nil)
		}
		origin := originOf(req.URL)
		if err := h.allowed(origin); err != nil {
			return err
		}
		if credential != "" {
			known := h.options.Credentials[credential]
			req.Header.Del(known.header())
			if c, err := h.credential(credential, origin); err == nil && origin == originOf(via[0].URL) {
				req.Header.Set(c.header(), c.Value)
			}
		}
		return nil
	}
}

// transportError is what the core is told when a request ends before its answer does.
func transportError(ctx context.Context, err error) error {
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
	return newError(abi.CodeHTTPTransport, cause.Error(), cause)
}

// send hands the core a part of the answer. It tells whether more is wanted.
func (e *effect) send(f *abi.Chunk) bool {
	t := e.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.running[e.number] != e {
		return false
	}
	f.Turn, f.Effect, f.Elapsed = t.number, e.number, t.tick()
	a := actor{busy: true}
	if err := t.exchange(&a, f); err != nil && !t.closed {
		t.perish(t.core.inst.Retire(err))
	}
	t.await(&a)
	return !t.closed
}

// headers are a head's names and values, by name.
func headers(h http.Header) [][]string {
	var list [][]string
	for name, values := range h {
		for _, v := range values {
			list = append(list, []string{strings.ToLower(name), v})
		}
	}
	slices.SortStableFunc(list, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return list
}
