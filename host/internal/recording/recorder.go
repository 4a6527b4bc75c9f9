package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"unicode/utf8"
)

// maxBody bounds what is recorded of a request or a response, in bytes. A longer response is passed on all the same.
const maxBody = 64 << 20

// RecorderOptions say what a [Recorder] records.
type RecorderOptions struct {
	Name   string
	Target *url.URL // of the API; requests keep their paths and go to its origin
	// Key is added to requests that bring no key of their own, unless a page sends them whose origin is not in Origins. An
	// empty value adds none.
	Key struct{ Header, Value string }
	// Origins are those of pages that may spend the key, such as http://localhost:5173.
	Origins []string
	// Secrets are taken out of all that is recorded, beside the keys that requests bring.
	Secrets []string
	// Transport reaches the target. Default: one of its own.
	Transport http.RoundTripper
	// Saved is called after each interaction, with all so far. Its error is told, and ends nothing.
	Saved func(*Recording) error
	// Told is called with what happens, a line each.
	Told func(line string)
}

// Recorder is a proxy in front of a provider's API that writes down what is said, in order of the requests, without
// headers and without keys. It is an http.Handler.
//
// Requests that are no POST of a JSON object go through without being recorded, and so does what breaks off.
type Recorder struct {
	options RecorderOptions
	client  http.Client
	secrets Secrets

	mu           sync.Mutex
	interactions []*Interaction // nil while the response is under way, or when it was not recorded
}

// NewRecorder returns a recorder.
func NewRecorder(o RecorderOptions) *Recorder {
	r := &Recorder{options: o}
	r.client = http.Client{
		Transport:     o.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if o.Transport == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.DisableCompression = true
		r.client.Transport = transport
	}
	r.secrets.Keep(o.Key.Value)
	for _, s := range o.Secrets {
		r.secrets.Keep(s)
	}
	return r
}

// Recording returns what was recorded so far.
func (r *Recorder) Recording() *Recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	rec := &Recording{Name: r.options.Name, Origin: r.options.Target.Host, Interactions: []Interaction{}}
	for _, it := range r.interactions {
		if it != nil {
			rec.Interactions = append(rec.Interactions, *it)
		}
	}
	return rec
}

// hop are the headers that are for the next machine only, and those that the recorder sets itself.
var hop = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "Accept-Encoding", "Content-Length",
}

// ServeHTTP implements http.Handler.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, in.Body, maxBody))
	if err != nil {
		r.refuse(w, in, http.StatusRequestEntityTooLarge, fmt.Sprintf("the request cannot be read: %v", err))
		return
	}
	out, err := r.forward(in, body)
	if err != nil {
		r.refuse(w, in, http.StatusBadRequest, err.Error())
		return
	}
	record := in.Method == http.MethodPost && isObject(body)
	place := -1
	if record {
		r.mu.Lock()
		place = len(r.interactions)
		r.interactions = append(r.interactions, nil)
		r.mu.Unlock()
	}
	response, err := r.client.Do(out)
	if err != nil {
		r.refuse(w, in, http.StatusBadGateway, r.secrets.Redact(err.Error()))
		return
	}
	defer response.Body.Close()
	head := w.Header()
	for name, values := range response.Header {
		if !slices.Contains(hop, name) {
			head[name] = values
		}
	}
	w.WriteHeader(response.StatusCode)
	text, err := pass(w, response.Body)
	line := fmt.Sprintf("%s %s: %d, %d bytes", in.Method, in.URL.Path, response.StatusCode, len(text))
	switch {
	case err != nil:
		r.tell(line + "; not recorded: " + r.secrets.Redact(err.Error()))
	case !record:
		r.tell(line + "; not recorded, as it is no POST of a JSON object")
	case !utf8.Valid(text):
		r.tell(line + "; not recorded, as it is not text in UTF-8")
	default:
		r.take(place, out.URL, body, response, text)
		r.tell(line)
	}
	if errors.Is(err, errBroken) {
		breakOff(w) // when all is told: the client may end with it
	}
}

// forward makes the request to the target.
func (r *Recorder) forward(in *http.Request, body []byte) (*http.Request, error) {
	at := *in.URL
	at.Scheme, at.Host, at.User = r.options.Target.Scheme, r.options.Target.Host, nil
	out, err := http.NewRequestWithContext(in.Context(), in.Method, at.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	hasKey := false
	for name, values := range in.Header {
		if slices.Contains(hop, name) {
			continue
		}
		out.Header[name] = values
		if slices.Contains(keyHeaders, name) {
			hasKey = hasKey || name != "Cookie"
		}
	}
	for _, name := range keyParameters {
		hasKey = hasKey || at.Query().Has(name)
	}
	r.secrets.KeepOf(out.Header, &at)
	if key := r.options.Key; key.Value != "" && !hasKey && !r.foreign(in) {
		out.Header.Set(key.Header, key.Value)
	}
	return out, nil
}

// foreign tells whether a request comes from a page that was not allowed, or under a name that another site could give
// this machine: such a page must not spend the key. A page on this machine is no exception, as anybody may serve one.
func (r *Recorder) foreign(in *http.Request) bool {
	if origin := in.Header.Get("Origin"); origin != "" && !slices.Contains(r.options.Origins, origin) {
		return true
	}
	at := url.URL{Host: in.Host}
	return !isLoopback(at.Hostname())
}

func isLoopback(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "::1"
}

func isObject(body []byte) bool {
	return json.Valid(body) && bytes.HasPrefix(bytes.TrimSpace(body), []byte("{"))
}

var (
	errTooLong = fmt.Errorf("it is longer than %d bytes", maxBody)
	errBroken  = errors.New("the response broke off")
)

// pass passes a response on as it comes and returns all of it.
func pass(w http.ResponseWriter, body io.Reader) (text []byte, err error) {
	control := http.NewResponseController(w)
	part := make([]byte, 32<<10)
	long := false
	for {
		n, err := body.Read(part)
		if n > 0 {
			if _, err := w.Write(part[:n]); err != nil {
				return text, errors.New("the client has gone")
			}
			_ = control.Flush() // what cannot be flushed comes at the end
			if long = long || len(text)+n > maxBody; !long {
				text = append(text, part[:n]...)
			}
		}
		switch {
		case errors.Is(err, io.EOF) && long:
			return text, errTooLong
		case errors.Is(err, io.EOF):
			return text, nil
		case err != nil:
			return text, fmt.Errorf("%w: %w", errBroken, err)
		}
	}
}

// breakOff makes the client see that a response broke off, as far as the connection can show it.
func breakOff(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// take records an interaction.
func (r *Recorder) take(place int, at *url.URL, body []byte, response *http.Response, text []byte) {
	it := &Interaction{}
	it.Request.Method = http.MethodPost
	it.Request.URL = r.secrets.Redact(WithoutKeys(at))
	it.Request.Body = json.RawMessage(r.secrets.RedactBody(string(body)))
	it.Response.Status = response.StatusCode
	it.Response.ContentType = contentType(response)
	it.Response.Body = r.secrets.RedactBody(string(text))
	r.mu.Lock()
	r.interactions[place] = it
	r.mu.Unlock()
	if r.options.Saved == nil {
		return
	}
	if err := r.options.Saved(r.Recording()); err != nil {
		r.tell("the recording cannot be written: " + err.Error())
	}
}

func contentType(response *http.Response) string {
	kind := response.Header.Get("Content-Type")
	if _, _, err := mime.ParseMediaType(kind); err != nil {
		return "application/octet-stream"
	}
	return kind
}

func (r *Recorder) refuse(w http.ResponseWriter, in *http.Request, status int, why string) {
	http.Error(w, why, status)
	r.tell(fmt.Sprintf("%s %s: %s", in.Method, in.URL.Path, why))
}

func (r *Recorder) tell(line string) {
	if r.options.Told != nil {
		r.options.Told(line)
	}
}

// Save writes a recording to a file that only its owner can read, whole or not at all.
func (r *Recording) Save(path string) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("recording %s: %w", path, err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = file.Write(text.Bytes())
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // it may be gone already
	}
	return err
}
