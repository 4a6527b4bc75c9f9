package agents

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// Grant says what an agent may do; it can do nothing else. Its JSON Schema is abi/agents/grant.schema.json.
type Grant struct {
	Schema string `json:"$schema,omitempty"` // address of the JSON Schema, for editors
	Agent  string `json:"agent"`             // name of the agent that it is for
	// Version is the version that it is for, such as "1.4.0", or a series, such as "1.x" or "1.4.x". "" for all.
	Version     string            `json:"version,omitempty"`
	HTTP        *GrantHTTP        `json:"http,omitempty"`
	Credentials []GrantCredential `json:"credentials,omitempty"`
	Tools       []string          `json:"tools,omitempty"`  // of the host
	Models      map[string]string `json:"models,omitempty"` // "provider/model", by the names that the agent gives them
	Stores      []string          `json:"stores,omitempty"` // of the host
	Log         *GrantLog         `json:"log,omitempty"`    // nil: nothing is kept
	Quota       Quota             `json:"quota,omitzero"`   // of a turn; zero fields stand for [DefaultQuota]
}

// GrantHTTP says where requests may go.
type GrantHTTP struct {
	Origins []string `json:"origins"` // of requests and of their redirects
	// PrivateAddresses allows addresses of the own machine and its networks, whatever names they go by.
	PrivateAddresses bool `json:"privateAddresses,omitempty"`
}

// GrantCredential is a secret that the host adds to requests. The agent never sees it: a secret of less than 8 bytes,
// which could not be taken out of what comes back, is refused.
type GrantCredential struct {
	Name    string   `json:"name"`
	Origins []string `json:"origins"`          // where it may go; each is in http.origins, too
	Header  string   `json:"header,omitempty"` // "authorization" if empty
	// Scheme is the word before the secret. nil: "Bearer" in the header authorization, none in others.
	Scheme *string `json:"scheme,omitempty"`
	From   Secret  `json:"from"`
}

// Secret says where the host finds a secret: in one of these.
type Secret struct {
	Env  string `json:"env,omitempty"`  // a variable of the environment
	File string `json:"file,omitempty"` // a file's path; white space around its text does not count
}

// GrantLog says how much log is kept.
type GrantLog struct {
	BytesPerTurn int64 `json:"bytesPerTurn"` // what goes beyond is cut, and a note says so
}

// DefaultQuota is the quota of a turn whose grant sets none.
var DefaultQuota = Quota{Steps: 100_000, Frames: 1_000_000, Effects: 10_000, Bytes: 256 << 20, Tokens: 10_000_000}

// or returns the quota with the fields of another one where it has none.
func (q Quota) or(other Quota) Quota {
	for i, f := range q.fields() {
		if *f.value == 0 {
			*f.value = *other.fields()[i].value
		}
	}
	return q
}

// quotaField is a field of a quota.
type quotaField struct {
	name  string
	value *int64
}

func (q *Quota) fields() []quotaField {
	return []quotaField{{"steps", &q.Steps}, {"frames", &q.Frames}, {"effects", &q.Effects}, {"bytes", &q.Bytes}, {"tokens", &q.Tokens}}
}

// ReadGrant reads a grant file. One that breaks a rule fails with [host.CodeAgentGrant], whose message lists every
// field that is wrong, unknown ones among them.
func ReadGrant(text []byte) (*Grant, error) {
	var g Grant
	if err := grantDocument.read(text, &g); err != nil {
		return nil, err
	}
	return &g, g.inconsistent()
}

// valid checks a grant, which a program may have made itself.
func (g *Grant) valid() error {
	text, err := canonical(g)
	if err == nil {
		_, err = ReadGrant(text)
	}
	return err
}

// inconsistent lists what a schema cannot say.
func (g *Grant) inconsistent() error {
	var list []string
	var origins []string
	if g.HTTP != nil {
		origins = g.HTTP.Origins
		for i, o := range origins {
			if defaultPort(o) {
				list = append(list, fmt.Sprintf("`http.origins[%d]` has the default port of its scheme: leave it out", i))
			}
			if !g.HTTP.PrivateAddresses && privateOrigin(o) {
				list = append(list, fmt.Sprintf("`http.origins[%d]` is a private address, and `http.privateAddresses` is not set", i))
			}
		}
	}
	names := map[string]bool{}
	for i, c := range g.Credentials {
		if names[c.Name] {
			list = append(list, fmt.Sprintf("`credentials[%d].name` occurs twice", i))
		}
		names[c.Name] = true
		if slices.Contains(ownHeaders, strings.ToLower(c.Header)) {
			list = append(list, fmt.Sprintf("`credentials[%d].header` is a header that the host sets itself", i))
		}
		for j, o := range c.Origins {
			if !slices.Contains(origins, o) {
				list = append(list, fmt.Sprintf("`credentials[%d].origins[%d]` is not in `http.origins`", i, j))
			}
		}
	}
	return grantDocument.wrong(list...)
}

// ownHeaders are headers of the connection, which no credential can be sent in. JavaScript has the same.
var ownHeaders = []string{
	"connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
}

// defaultPort reports whether an origin is written with its scheme's own port: what requests go to never is.
func defaultPort(origin string) bool {
	return strings.HasPrefix(origin, "http://") && strings.HasSuffix(origin, ":80") ||
		strings.HasPrefix(origin, "https://") && strings.HasSuffix(origin, ":443")
}

// privateOrigin reports whether an origin names a private address itself, without the help of a name server. What
// stands in brackets and is no address is not public either.
func privateOrigin(origin string) bool {
	_, name, _ := strings.Cut(origin, "://")
	if i := strings.LastIndexByte(name, ':'); i >= 0 && !strings.HasSuffix(name, "]") {
		name = name[:i]
	}
	if name, is := strings.CutPrefix(name, "["); is {
		address, err := netip.ParseAddr(strings.TrimSuffix(name, "]"))
		return err != nil || !public(address)
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	if address, err := netip.ParseAddr(name); err == nil {
		return !public(address)
	}
	return number.MatchString(name)
}

// number matches what some resolvers take for an address of IPv4, such as 127.1 and 0x7f000001.
var number = regexp.MustCompile(`(^|\.)(0x[0-9a-f]*|[0-9]+)$`)

// covers reports whether a grant is for a version.
func (g *Grant) covers(version string) bool {
	series, ok := strings.CutSuffix(g.Version, "x")
	switch {
	case g.Version == "":
		return true
	case ok:
		return strings.HasPrefix(version, series)
	}
	return version == g.Version
}
