package exchange

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/model"
)

// maxRedirects is how many redirects a request follows at most, whatever the core asks for.
const maxRedirects = 20

// request is a request of the core, with the redirects that it meets.
type request struct {
	client     *Client
	allow      func(origin string) bool
	method     string
	url        *url.URL
	headers    [][]string
	body       []byte
	credential *model.Credential // nil for none, and once a redirect has led to another origin
	name       string            // of the credential, "" for none
	secret     *redactor         // of the credential, also when that is not sent
	redirect   uint8
	redirects  int // that may still be followed
}

// newRequest checks what the core asks for.
func (c *Client) newRequest(args *abi.HTTPArgs, allow func(origin string) bool) (*request, error) {
	body, err := abi.BytesOf(args.Body)
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(args.URL)
	if err != nil {
		return nil, host.NewError(abi.CodeHTTPNotAllowed, "the address is no URL", nil)
	}
	r := &request{
		client: c, allow: allow, method: args.Method, url: target, headers: args.Headers, body: body,
		redirect: args.Redirect, redirects: int(min(args.Redirects, maxRedirects)),
	}
	if err := r.allowed(); err != nil {
		return nil, err
	}
	if args.Credential == "" {
		return r, nil
	}
	key, known := c.Credentials[args.Credential]
	origin := originOf(target)
	if !known || !slices.ContainsFunc(key.Origins, func(o string) bool { return Origin(o) == origin }) {
		return nil, host.NewError(abi.CodeCredentialUnknown, args.Credential+" for "+origin, nil)
	}
	r.credential, r.name, r.secret = &key, args.Credential, newRedactor(key.Value)
	return r, nil
}

// allowed tells whether the request may go where it is about to, and takes the fragment off that address.
func (r *request) allowed() error {
	r.url.Fragment, r.url.RawFragment = "", "" // stays at home
	origin := originOf(r.url)
	switch method := strings.ToUpper(r.method); {
	case method == "CONNECT" || method == "TRACE" || method == "TRACK":
		return host.NewError(abi.CodeHTTPNotAllowed, "the method "+method, nil)
	case (method == "GET" || method == "HEAD") && len(r.body) > 0:
		return host.NewError(abi.CodeHTTPNotAllowed, "a "+method+" with a body", nil)
	case origin == "":
		return host.NewError(abi.CodeHTTPNotAllowed, "the address is no http or https URL", nil)
	case r.url.User != nil:
		return host.NewError(abi.CodeHTTPNotAllowed, "an address with a user name, at "+origin, nil)
	case !r.allow(origin):
		return host.NewError(abi.CodeHTTPNotAllowed, origin, nil)
	}
	return nil
}

// send sends the request and follows redirects as far as it may.
func (r *request) send(ctx context.Context) (*http.Response, error) {
	// An http.Client would follow redirects by rules of its own.
	transport := r.client.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	for followed := 0; ; followed++ {
		req, err := http.NewRequestWithContext(ctx, r.method, r.url.String(), bytes.NewReader(r.body))
		if err != nil {
			return nil, host.NewError(abi.CodeHTTPNotAllowed, err.Error(), nil)
		}
		for _, pair := range r.headers {
			if len(pair) == 2 {
				req.Header.Add(pair[0], pair[1])
			}
		}
		if r.credential != nil {
			req.Header.Set(cmp.Or(r.credential.Header, "authorization"), r.credential.Value)
		}
		if r.client.Route != nil {
			if transport, err = r.client.Route(req, r.name, r.body); err != nil {
				return nil, err
			}
		}
		resp, err := transport.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		location := resp.Header.Get("Location")
		if !isRedirect(resp.StatusCode) || location == "" || r.redirect == abi.RedirectManual {
			return resp, nil
		}
		_ = resp.Body.Close() // nobody wants it
		switch {
		case r.redirect == abi.RedirectError:
			return nil, host.NewError(abi.CodeHTTPRedirect, "status "+strconv.Itoa(resp.StatusCode), nil)
		case followed >= r.redirects:
			return nil, host.NewError(abi.CodeHTTPRedirect, "more than "+strconv.Itoa(r.redirects), nil)
		}
		if err := r.follow(resp.StatusCode, location); err != nil {
			return nil, err
		}
	}
}

// isRedirect tells whether a status says that an answer is elsewhere.
func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// follow makes the request the one that a redirect asks for, by the rules of the Fetch standard. At another origin it
// has no credential, and only those headers that tell nothing about who asks.
func (r *request) follow(status int, location string) error {
	target, err := r.url.Parse(location)
	if err != nil {
		return host.NewError(abi.CodeHTTPRedirect, "the location is no URL", nil)
	}
	if originOf(target) != originOf(r.url) {
		r.credential, r.name = nil, ""
		r.headers = slices.DeleteFunc(slices.Clone(r.headers), func(pair []string) bool {
			return len(pair) == 0 || !slices.Contains(plainHeaders[:], strings.ToLower(pair[0]))
		})
	}
	r.url = target
	method := strings.ToUpper(r.method)
	if status == http.StatusSeeOther && method != "GET" && method != "HEAD" || status < http.StatusSeeOther && method == "POST" {
		r.method, r.body = "GET", nil
		r.headers = slices.DeleteFunc(slices.Clone(r.headers), func(pair []string) bool {
			return len(pair) > 0 && strings.HasPrefix(strings.ToLower(pair[0]), "content-")
		})
	}
	return r.allowed()
}

// plainHeaders are those that go with a request to another origin.
var plainHeaders = [...]string{"accept", "accept-language", "content-encoding", "content-language", "content-type", "range", "user-agent"}

// originOf is a URL's origin, "" if requests can not go there.
func originOf(u *url.URL) string {
	scheme, place := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if place == "" || scheme != "http" && scheme != "https" {
		return ""
	}
	if port := u.Port(); scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		place = strings.TrimSuffix(place, ":"+port)
	}
	return scheme + "://" + strings.TrimSuffix(place, ":")
}

// Origin is the origin of a URL that is given as text, "" if it has none.
func Origin(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return originOf(u)
}
