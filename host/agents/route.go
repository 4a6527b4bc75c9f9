package agents

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/exchange"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/turns"
)

// modelCredential begins the names of the credentials with models' keys, before a space and the agent's name for the
// model. A grant's own names have no spaces.
const modelCredential = "model"

// endpoint is where a granted model answers.
type endpoint struct {
	base         string // address of the API
	origin, path string // of it
	model        string
	credential   string // that goes with the requests, "" for none
	chat         *model.ChatOptions
}

// endpointOf is the endpoint of a model behind an API, with the credential that it needs, if any.
func endpointOf(m turns.Model, credential string) (endpoint, model.Credential) {
	provider := m.Provider
	if named, ok := m.Options["provider"].(string); ok && provider == "" {
		provider = model.Provider(named)
	}
	base := cmp.Or(m.BaseURL, provider.BaseURL())
	e := endpoint{base: base, origin: exchange.Origin(base), model: m.Name}
	if u, err := url.Parse(base); err == nil {
		e.path = strings.TrimRight(u.EscapedPath(), "/")
	}
	if m.APIKey == "" {
		return e, model.Credential{}
	}
	e.credential = credential
	return e, provider.Key(m.APIKey, e.origin)
}

// Paths of APIs at which models answer and whose requests name the model, below an endpoint's.
var answering = []string{"/chat/completions", "/messages", "/responses"}

// takes reports whether a request asks the endpoint's model for an answer: nothing else may be sent with its key.
func (e *endpoint) takes(method string, to *url.URL, body []byte) bool {
	rest, below := strings.CutPrefix(to.EscapedPath(), e.path)
	if !below || method != http.MethodPost || exchange.Origin(to.String()) != e.origin {
		return false
	}
	if slices.Contains(answering, rest) {
		return namesOnly(body, e.model)
	}
	action, named := strings.CutPrefix(rest, "/models/"+url.PathEscape(e.model)+":")
	return named && (action == "generateContent" || action == "streamGenerateContent")
}

// namesOnly reports whether a request's body is a JSON object whose member "model" is the given one, however often it
// occurs.
func namesOnly(body []byte, name string) bool {
	dec := json.NewDecoder(bytes.NewReader(body))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	found := false
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return false
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return false
		}
		if text, _ := key.(string); strings.EqualFold(text, "model") {
			var named string
			if json.Unmarshal(value, &named) != nil || named != name {
				return false
			}
			found = true
		}
	}
	return found
}

// router says where an agent's requests may go.
type router struct {
	origins  []string   // of the grant
	models   []endpoint // that are granted
	agent    http.RoundTripper
	endpoint http.RoundTripper // for requests to models, whose addresses the program has chosen
}

// allows reports whether requests may go to an origin at all.
func (r *router) allows(origin string) bool {
	return slices.Contains(r.origins, origin) || slices.ContainsFunc(r.models, func(e endpoint) bool { return e.origin == origin })
}

// asked is for guard.Agent. A key is sent for an answer of its own model only, so that it tells which one is asked.
func (r *router) asked(args *abi.HTTPArgs) *model.ChatOptions {
	for i := range r.models {
		e := &r.models[i]
		if e.credential != args.Credential {
			continue
		}
		if e.credential != "" {
			return e.chat
		}
		to, err := url.Parse(args.URL)
		body, bad := abi.BytesOf(args.Body)
		if err == nil && bad == nil && e.takes(args.Method, to, body) {
			return e.chat
		}
	}
	return nil
}

// route is for guard.Guard.
func (r *router) route(req *http.Request, credential string, body []byte) (http.RoundTripper, error) {
	for i := range r.models {
		if e := &r.models[i]; e.credential == credential && e.takes(req.Method, req.URL, body) {
			return r.endpoint, nil
		}
	}
	origin := exchange.Origin(req.URL.String())
	switch {
	case strings.HasPrefix(credential, modelCredential+" "):
		return nil, host.NewError(host.CodeHTTPNotAllowed, origin+", with the key of a model and for something else than its answer", nil)
	case !slices.Contains(r.origins, origin):
		return nil, host.NewError(host.CodeHTTPNotAllowed, origin+", for something else than the answer of a granted model", nil)
	}
	return r.agent, nil
}
