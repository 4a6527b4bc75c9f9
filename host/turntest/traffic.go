package turntest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/recording"
)

// TrafficOptions are options of [Record] and [Replay]. The zero value is fine.
type TrafficOptions struct {
	// Secrets are taken out of the file, beside the keys that requests bring. One of fewer than 8 bytes stays: it would
	// be found in ordinary text.
	Secrets []string
	// Transport sends the requests that are recorded. nil means http.DefaultTransport.
	Transport http.RoundTripper
}

// Replay answers requests to models from a file: it is the HTTP of turns.HostOptions. A request gets the first recorded
// answer that nothing has got yet to a request of the same method, address and body; what JSON does not tell apart is
// the same, and so is a member that is null and one that is not there. The test fails
//
//   - on a request that is not in the file, which gets an [UnrecordedError]: the report has the differences from the
//     nearest one that is,
//   - and at its end if a recorded request was not sent.
//
// With the flag -update it is [Record].
func Replay(t T, path string, options ...TrafficOptions) http.RoundTripper {
	t.Helper()
	if Updating() {
		return Record(t, path, options...)
	}
	r := &replay{t: t, path: path}
	for _, o := range options {
		for _, s := range o.Secrets {
			r.secrets.Keep(s)
		}
	}
	file, err := recording.Load(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.Fatalf("turntest: there is no %s: go test -update records it", path)
	case err != nil:
		t.Fatalf("turntest: %v", err)
	default:
		r.recorded = file.Interactions
	}
	r.used = make([]bool, len(r.recorded))
	t.Cleanup(r.end)
	return r
}

// Record sends requests to models and writes what is said to a file, in the order of the requests, when the test ends:
// it is the HTTP of turns.HostOptions. The file has the format of `turncore record-provider`.
//
// The file has no headers. Keys in the headers and the address of a request, in members of JSON such as "api_key", and
// the Secrets of the options are replaced by REDACTED wherever they come up. Read the file before you commit it all the
// same: what the conversation says is in it.
//
// The test fails on what a file cannot hold: an answer that breaks off or that nobody reads to its end, a body that is
// no text in UTF-8, a request whose body is no JSON.
func Record(t T, path string, options ...TrafficOptions) http.RoundTripper {
	t.Helper()
	r := &recorder{t: t, path: path, transport: http.DefaultTransport}
	for _, o := range options {
		for _, s := range o.Secrets {
			r.secrets.Keep(s)
		}
		if o.Transport != nil {
			r.transport = o.Transport
		}
	}
	t.Cleanup(r.end)
	return r
}

// UnrecordedError is the cause of the error that a request fails with which is not in a file.
type UnrecordedError struct {
	File        string
	Method, URL string // of the request, without keys
	// Nearest is the number in the file, from 1, of the recorded request that is most like it; 0 if all were sent.
	Nearest int
	// Differences from that one, a line each: "/messages/1/content: got X, want Y".
	Differences []string
}

// Error names the request, and what it differs in from the nearest one.
func (e *UnrecordedError) Error() string {
	head := fmt.Sprintf("turntest: %s has no request like %s %s", e.File, e.Method, e.URL)
	if e.Nearest == 0 {
		return head + ": all recorded requests were sent already"
	}
	return fmt.Sprintf("%s; from the nearest one, number %d, it differs in:%s", head, e.Nearest, listed(e.Differences))
}

// sent is a request as it is recorded and compared.
type sent struct {
	method, url string
	body        string // JSON text; "" for none
}

// read takes a request and its body, without the keys in them. The request can be sent afterwards.
func read(secrets *recording.Secrets, r *http.Request) (s sent, out *http.Request, err error) {
	var body []byte
	if r.Body != nil {
		body, err = io.ReadAll(r.Body)
		if err = errors.Join(err, r.Body.Close()); err != nil {
			return s, nil, err
		}
	}
	secrets.KeepOf(r.Header, r.URL)
	out = r.Clone(r.Context())
	out.Body = io.NopCloser(bytes.NewReader(body))
	s.body = strings.TrimSpace(secrets.RedactBody(string(body)))
	s.method, s.url = r.Method, secrets.Redact(recording.WithoutKeys(r.URL))
	return s, out, nil
}

// replay answers from a file.
type replay struct {
	t       T
	path    string
	secrets recording.Secrets

	mu       sync.Mutex
	recorded []recording.Interaction
	used     []bool
	over     bool
}

// RoundTrip implements http.RoundTripper.
func (r *replay) RoundTrip(in *http.Request) (*http.Response, error) {
	s, _, err := read(&r.secrets, in)
	if err != nil {
		return nil, err
	}
	if err := in.Context().Err(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	missing := &UnrecordedError{File: r.path, Method: s.method, URL: s.url}
	for i := range r.recorded {
		if r.used[i] {
			continue
		}
		list := s.differences(&r.recorded[i])
		if len(list) == 0 {
			r.used[i] = true
			return answer(in, &r.recorded[i]), nil
		}
		if missing.Nearest == 0 || len(list) < len(missing.Differences) {
			missing.Nearest, missing.Differences = i+1, list
		}
	}
	if !r.over { // a test that has ended cannot fail any more
		r.t.Errorf("%v\nIf the request is right, go test -update records it.", missing)
	}
	return nil, host.NewError(host.CodeHTTPNotAllowed, missing.Error(), missing) // which nobody repeats
}

// differences from a recorded request.
func (s *sent) differences(it *recording.Interaction) (list []string) {
	for _, f := range [][3]string{{"method", s.method, it.Request.Method}, {"address", s.url, it.Request.URL}} {
		if f[1] != f[2] {
			list = append(list, fmt.Sprintf("%s: got %s, want %s", f[0], f[1], f[2]))
		}
	}
	return append(list, jsonDifferences(jsonValue(s.body), jsonValue(string(it.Request.Body)))...)
}

// jsonValue is the value of a JSON text, nil for none. Other texts are values themselves.
func jsonValue(text string) any {
	if text == "" {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return text
	}
	return v
}

// answer is a recorded answer.
func answer(in *http.Request, it *recording.Interaction) *http.Response {
	return &http.Response{
		StatusCode: it.Response.Status, Status: fmt.Sprint(it.Response.Status, " ", http.StatusText(it.Response.Status)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: in, ContentLength: int64(len(it.Response.Body)),
		Header: http.Header{"Content-Type": {it.Response.ContentType}},
		Body:   io.NopCloser(strings.NewReader(it.Response.Body)),
	}
}

// end reports the requests that were not sent.
func (r *replay) end() {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	var list []string
	for i, used := range r.used {
		if it := &r.recorded[i]; !used {
			sent := fmt.Sprintf("number %d: %s %s ", i+1, it.Request.Method, it.Request.URL)
			list = append(list, sent+shorten(jsonText(jsonValue(string(it.Request.Body)))))
		}
	}
	if len(list) > 0 {
		r.t.Errorf("turntest: %s has %s that the test did not send (go test -update records it anew):%s",
			r.path, count(len(list), "request"), listed(list))
	}
}

// recorder passes requests on and keeps what is said.
type recorder struct {
	t         T
	path      string
	transport http.RoundTripper
	secrets   recording.Secrets

	mu       sync.Mutex
	recorded []*exchanged
}

// exchanged is a request and its answer.
type exchanged struct {
	sent   sent
	status int
	kind   string
	text   bytes.Buffer
	whole  bool
	why    error // why there is no answer, or no whole one; nil if nobody read it
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(in *http.Request) (*http.Response, error) {
	s, out, err := read(&r.secrets, in)
	if err != nil {
		return nil, err
	}
	x := &exchanged{sent: s}
	r.mu.Lock()
	r.recorded = append(r.recorded, x)
	r.mu.Unlock()
	response, err := r.transport.RoundTrip(out)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		x.why = err
		return nil, err
	}
	x.status, x.kind = response.StatusCode, response.Header.Get("Content-Type")
	response.Body = &kept{from: response.Body, recorder: r, exchanged: x}
	return response, nil
}

// kept is the body of an answer that is recorded as it is read.
type kept struct {
	from      io.ReadCloser
	recorder  *recorder
	exchanged *exchanged
}

// Read implements io.Reader.
func (k *kept) Read(p []byte) (int, error) {
	n, err := k.from.Read(p)
	k.recorder.mu.Lock()
	defer k.recorder.mu.Unlock()
	x := k.exchanged
	x.text.Write(p[:n])
	switch {
	case errors.Is(err, io.EOF):
		x.whole = true
	case err != nil:
		x.why = err
	}
	return n, err
}

// Close reads what nobody wanted, such as what follows the end of a stream, and closes the body.
func (k *kept) Close() error {
	_, _ = io.Copy(io.Discard, k) // what is wrong is noted
	return k.from.Close()
}

// problem tells why an answer cannot be recorded, "" if it can.
func (x *exchanged) problem() string {
	switch {
	case x.why != nil:
		return x.why.Error()
	case !x.whole:
		return "its answer was not read to the end"
	case !utf8.Valid(x.text.Bytes()):
		return "its answer is no text in UTF-8"
	case x.sent.body != "" && !json.Valid([]byte(x.sent.body)):
		return "its body is no JSON"
	}
	return ""
}

// end writes the file.
func (r *recorder) end() {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	name := strings.TrimSuffix(filepath.Base(r.path), filepath.Ext(r.path))
	file := &recording.Recording{Name: name, Interactions: []recording.Interaction{}}
	for _, x := range r.recorded {
		if why := x.problem(); why != "" {
			r.t.Errorf("turntest: %s cannot hold %s %s: %s", r.path, x.sent.method, x.sent.url, r.secrets.Redact(why))
			continue
		}
		var it recording.Interaction
		it.Request.Method, it.Request.URL, it.Request.Body = x.sent.method, x.sent.url, json.RawMessage("null")
		if x.sent.body != "" {
			it.Request.Body = json.RawMessage(x.sent.body)
		}
		it.Response.Status, it.Response.ContentType = x.status, x.kind
		it.Response.Body = r.secrets.RedactBody(x.text.String())
		file.Interactions = append(file.Interactions, it)
	}
	if len(file.Interactions) == 0 {
		r.t.Errorf("turntest: nothing was said that %s could hold", r.path)
		return
	}
	for i := range file.Interactions { // of secrets that came up later, too
		it := &file.Interactions[i]
		it.Request.URL, it.Response.Body = r.secrets.Redact(it.Request.URL), r.secrets.Redact(it.Response.Body)
		it.Request.Body = json.RawMessage(r.secrets.Redact(string(it.Request.Body)))
	}
	if at, err := url.Parse(file.Interactions[0].Request.URL); err == nil {
		file.Origin = at.Host
	}
	err := folderOf(r.path)
	if err == nil {
		err = file.Save(r.path)
	}
	if err != nil {
		r.t.Errorf("turntest: %v", err)
	}
}
