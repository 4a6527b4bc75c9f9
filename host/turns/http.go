package turns

import (
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

// maxChunk is the largest part of a body that goes to the core at once, in bytes.
const maxChunk = 64 << 10

// request sends a request of the core and hands it what comes back.
func (e *effect) request(ctx context.Context, args *abi.HTTPArgs, media []splice, allow func(origin string) bool) error {
	core := e.turn.core
	return core.host.exchange(ctx, args, media, allow, min(maxChunk, core.maxBody()), e.send)
}

// allowedOrigins tells where a request of the effect may go: where the host lets it, or else where the program has said
// that the dispatch goes. The caller holds t.mu.
func (e *effect) allowedOrigins() func(origin string) bool {
	t := e.turn
	if allow := t.core.host.options.AllowOrigin; allow != nil {
		return allow
	}
	var origins []string
	config := t.config
	if d := e.context.dispatch; d != nil {
		config = d.config
	}
	if config.chat != nil {
		base := chatURL(config.chat)
		if base == "" {
			return func(string) bool { return true } // a provider that only the core knows, and where it is
		}
		origins = append(origins, originOfText(base))
	}
	for _, tools := range [][]*Tool{t.tools.runner, t.tools.own} {
		for _, tool := range tools {
			origins = append(origins, tool.origins()...)
		}
	}
	return func(origin string) bool { return slices.Contains(origins, origin) }
}

// exchange sends a request, with the media that belong in its body, and passes on what comes back, at most so many bytes
// at once, while that is wanted.
func (h *Host) exchange(ctx context.Context, args *abi.HTTPArgs, media []splice, allow func(origin string) bool, most int, pass func(*abi.Chunk) bool) error {
	r, err := h.newRequest(args, allow)
	if err != nil {
		return err
	}
	if r.body, err = insertMedia(ctx, r.body, media); err != nil {
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
	buf := make([]byte, most)
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
			return newError(abi.CodeHTTPTransport, detail, nil)
		}
	}
	return newError(abi.CodeHTTPTransport, detail, cause)
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

// headers are a head's names and values, by name, values of one name joined, without the secret. Cookies stay behind: the
// core keeps none.
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
