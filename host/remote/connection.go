package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/sse"
)

// maxRefusal is how many bytes of a refusal are read.
const maxRefusal = 64 << 10

// shownRefusal is how many characters of a refusal an error shows.
const shownRefusal = 200

// send sends a request. E_TURN_STREAM_CUT is the error when there is no response.
func (c *Client) send(ctx context.Context, method, path string, header http.Header, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range c.options.Header {
		r.Header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
	}
	for name, values := range header {
		r.Header[name] = values
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := c.options.HTTP.Do(r)
	if err != nil {
		return nil, cutOff(err.Error(), err)
	}
	return response, nil
}

// post sends a request without an answer, or returns the refusal.
func (c *Client) post(ctx context.Context, path string, body []byte) error {
	response, err := c.send(ctx, http.MethodPost, path, nil, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return refusalOf(response)
}

// cutOff is the error for a connection that ended before its turn.
func cutOff(why string, cause error) error {
	if errors.Is(cause, io.EOF) {
		cause = nil
	}
	return host.NewError(host.CodeTurnStreamCut, why, cause)
}

// requireEvents returns E_TURN_STREAM_MALFORMED for a response that has no events.
func requireEvents(response *http.Response) error {
	given := response.Header.Get("Content-Type")
	if kind, _, err := mime.ParseMediaType(given); err == nil && kind == "text/event-stream" {
		return nil
	}
	why := "its content type is missing"
	if given != "" {
		why = "its content type is " + strconv.Quote(given)
	}
	return host.NewError(host.CodeTurnStreamMalformed, why, nil)
}

// refusalOf is the error of a response that is a refusal; nil for another one.
func refusalOf(response *http.Response) error {
	if response.StatusCode >= 200 && response.StatusCode < 300 {
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxRefusal)) // what came may say enough
	if err := sse.Refusal(body); err != nil {
		return err
	}
	why := response.Status
	if said := []rune(strings.Join(strings.Fields(string(body)), " ")); len(said) > 0 {
		why = fmt.Sprintf("%s: %s", why, string(said[:min(len(said), shownRefusal)]))
	}
	err := host.NewError(host.CodeTurnRequestRefused, why, nil)
	err.Status, err.Details = response.StatusCode, map[string]any{"status": int64(response.StatusCode)}
	return err
}

// passing is the error for a refusal. That of a server or proxy that may answer a moment later is a cut; an error of
// Turncore's is final.
func passing(response *http.Response, refusal error) error {
	switch response.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if errors.Is(refusal, host.CodeTurnRequestRefused) {
			return cutOff(refusal.Error(), refusal)
		}
	}
	return refusal
}
