package chat

import (
	"slices"
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/framing"
)

// options are the executor's options, checked and ready for use.
type options struct {
	provider       Provider
	protocol       Protocol
	url            string
	headers        [][2]string
	credential     string
	stream         bool
	idleTimeout    uint64 // ms, 0: none
	requestTimeout uint64 // ms, 0: none
	totalTimeout   uint64 // ms, 0: none
	retry          retry
	parallel       int    // tool calls that run at once
	toolTimeout    uint64 // longest run of a tool in ms; 0 for no limit
	spoolOver      uint64 // largest result text in bytes; the host keeps longer ones as artifacts; 0 for no bound
	reasoning      []string
	thoughts       thoughtOptions
	order          [buckets]uint8 // order of the buckets in the system text
	marks          marks
	medias         mediaOptions
	engine         Engine      // nil if the model has an address
	dialect        TextOptions // the engine, or the protocol's Text; nil for neither
	leading        bool        // texts may begin with reasoning
	output         output
	endpoint       string // host name of the endpoint, without a port
	native         string // tag of thoughts that the provider accepts back; empty for none
	extra          string // payload key of a call for the provider's data
	// head begins every request, except for tools and members that depend on them; toolOnly and extras are JSON
	// members, each after a comma.
	head     Head
	toolOnly []byte
	extras   map[string][]byte
}

// parser reads the options and collects their faults.
type parser struct {
	options
	baseURL      string
	includeUsage bool
	hasModel     bool
	prefix       string // before option names in errors
	seen         []string
	wrong        []string
}

// parseOptions reads the options map. It reports all faults in one E_CHAT_INVALID_OPTIONS, after those already in
// wrong, with prefix before each option's name.
func parseOptions(v []byte, providers []Provider, prefix string, wrong ...string) (options, error) {
	p := parser{
		prefix: prefix, wrong: wrong,
		options: options{
			stream: true, parallel: defaultParallel, toolTimeout: defaultToolTimeoutMs, spoolOver: defaultSpoolResultsOver,
			idleTimeout: defaultIdleTimeoutMs, requestTimeout: defaultRequestTimeoutMs, totalTimeout: defaultTotalTimeoutMs, retry: defaultRetry,
			reasoning: []string{"reasoning", "reasoning_content"}, medias: mediaOptions{max: defaultMaxMediaBytes}, output: output{mode: modeNative},
			order: [buckets]uint8{bucketInstructions, bucketMemories, bucketRetrievables},
		},
		includeUsage: true,
	}
	switch value.KindOf(v) {
	case value.KindInvalid, value.KindNil:
		if err := p.choose(nil, providers); err != nil {
			return options{}, err
		}
	case value.KindMap:
		if err := value.Check(v); err != nil {
			return options{}, fault.Wrap(fault.ChatInvalidOptions, err)
		}
		name, _ := value.Get(v, "provider") // first, since it determines the other options
		if err := p.choose(name, providers); err != nil {
			return options{}, err
		}
		_ = value.Each(v, func(key, val []byte) bool { // well-formed: checked above
			p.option(string(key), val)
			return true
		})
	default:
		return options{}, fault.New(fault.ChatInvalidOptions, "the options must be an object")
	}
	if !p.hasModel {
		p.fail("model", "is required")
	}
	if p.dialect != nil {
		p.dialect.Finish(p.fail)
	}
	if p.engine == nil {
		p.address()
	}
	if len(p.wrong) > 0 {
		return options{}, fault.New(fault.ChatInvalidOptions, p.wrong...)
	}
	p.build()
	return p.options, nil
}

// choose selects the provider by its name; the first one is the default. It fails if the provider is in another module,
// which leaves nothing else to report.
func (p *parser) choose(v []byte, providers []Provider) error {
	name, isText := value.String(v)
	var known, elsewhere []string
	found := value.KindOf(v) == value.KindInvalid || value.KindOf(v) == value.KindNil
	for _, candidate := range providers {
		protocol := candidate.Protocol()
		chosen := isText && string(name) == protocol.Name
		switch {
		case protocol.Elsewhere == "":
			known = append(known, protocol.Name)
		case chosen:
			return fault.New(fault.ChatInvalidOptions, "`provider` "+protocol.Name+" is not in this module, but in "+protocol.Elsewhere)
		default:
			elsewhere = append(elsewhere, protocol.Name+" ("+protocol.Elsewhere+")")
			continue
		}
		if p.provider == nil || chosen {
			p.provider, p.protocol = candidate, protocol
		}
		found = found || chosen
	}
	p.baseURL, p.leading = p.protocol.BaseURL, p.protocol.Leading
	if p.protocol.Local != nil {
		p.engine = p.protocol.Local.Open()
		p.dialect = p.engine
		p.idleTimeout, p.totalTimeout = 0, 0 // a model may take long to load, and to read a prompt
	} else if p.protocol.Text != nil {
		p.dialect = p.protocol.Text()
	}
	if !found {
		p.fail("provider", "must be one of "+strings.Join(append(known, elsewhere...), ", "))
	}
	return nil
}

func (p *parser) fail(name, problem string) {
	p.wrong = append(p.wrong, "`"+p.prefix+name+"` "+problem)
}

// ofTexts are the options about calls and reasoning in the text of an answer.
var ofTexts = []string{"toolFormat", "toolDelivery", "reasoningFormat", "reasoningOpened"}

// isOfOthers reports whether an option is for other providers only.
func (p *parser) isOfOthers(name string) bool {
	if slices.Contains(ofTexts, name) && p.dialect == nil && p.protocol.TextElsewhere == "" {
		return true // no module has it, whatever the provider names
	}
	return slices.Contains(ofSome, name) && !slices.Contains(p.protocol.Options, name)
}

func (p *parser) option(name string, v []byte) {
	if value.KindOf(v) == value.KindNil {
		return // as if absent, like undefined in a host's object
	}
	if p.protocol.Leading && name == "reasoningFormat" {
		format, _ := value.String(v)
		if p.leading = string(format) == "leading"; p.leading || string(format) == "off" {
			return
		}
		if p.dialect == nil {
			problem := "must be leading or off"
			if where := p.protocol.TextElsewhere; where != "" {
				problem += "; any other is not in this module, but in " + where
			}
			p.fail(name, problem)
			return
		}
	}
	if p.dialect != nil && p.dialect.Option(name, v, p.fail) {
		return
	}
	if p.isOfOthers(name) {
		p.fail(name, "is not for provider "+p.protocol.Name)
		return
	}
	switch name {
	case "toolFormat", "toolDelivery", "reasoningFormat", "reasoningOpened": // and there is no dialect
		p.fail(name, "is not in this module, but in "+p.protocol.TextElsewhere)
	case "provider": // done
	case "model":
		p.head.Model, p.hasModel = p.text(name, v), true
	case "baseURL":
		p.baseURL = p.text(name, v)
	case "credential":
		p.credential = p.text(name, v)
	case "stream":
		p.stream = p.flag(name, v)
	case "includeUsage":
		p.includeUsage = p.flag(name, v)
	case "idleTimeoutMs":
		p.idleTimeout = p.duration(name, v)
	case "requestTimeoutMs":
		p.requestTimeout = p.duration(name, v)
	case "totalTimeoutMs":
		p.totalTimeout = p.duration(name, v)
	case "retry":
		p.retry(v)
	case "toolTimeoutMs":
		p.toolTimeout = p.duration(name, v)
	case "spoolResultsOver":
		p.spoolOver = uint64(p.whole(name, v, minSpoolResultsOver, maxSpoolResultsOver))
	case "parallel":
		p.parallel = p.whole(name, v, minParallel, maxParallel)
	case "headers":
		p.header(v)
	case "reasoningFields":
		p.reasoningFields(v)
	case "thoughts", "thoughtSurfacing", "replayCompatibility":
		p.thoughtOption(name, v)
	case "bucketOrder":
		p.bucketOrder(name, v)
	case "media", "maxMediaBytes", "unsupportedMedia":
		p.media(name, v)
	case "trust":
		switch p.text(name, v) {
		case "marks":
		case "off":
			p.marks.off = true
		default:
			p.fail(name, oneOfTrust)
		}
	case "schema":
		p.output.option(v, p.fail)
	case "schemaMode":
		if p.output.mode = p.text(name, v); !slices.Contains([]string{modeNative, modePrompt, modeBoth}, p.output.mode) {
			p.fail(name, oneOfSchemaMode)
		}
	case "body":
		p.body(v)
	case "toolExtras":
		p.toolExtras(v)
	default:
		p.member(name, v)
	}
}

// members takes the members of an option that must be an object.
func (p *parser) members(name string, v []byte, take func(key, val []byte)) {
	if value.Each(v, func(key, val []byte) bool { take(key, val); return true }) != nil {
		p.fail(name, "must be an object")
	}
}

func (p *parser) text(name string, v []byte) string {
	s, ok := value.String(v)
	if !ok || len(s) == 0 {
		p.fail(name, "must be a non-empty string")
	}
	return string(s)
}

func (p *parser) flag(name string, v []byte) bool {
	b, ok := value.Bool(v)
	if !ok {
		p.fail(name, "must be a boolean")
	}
	return b
}

func (p *parser) duration(name string, v []byte) uint64 {
	n, ok := value.Int(v)
	if !ok || n < 0 {
		p.fail(name, "must be a number of milliseconds")
		return 0
	}
	return uint64(n)
}

// header sets headers that are sent beside, or instead of, the executor's own.
func (p *parser) header(v []byte) {
	p.members("headers", v, func(key, val []byte) {
		s, ok := value.String(val)
		switch name := strings.ToLower(string(key)); {
		case !isToken(name):
			p.fail("headers", "has an invalid header name: "+quote(key))
		case !ok || strings.ContainsAny(string(s), "\r\n\x00"):
			p.fail("headers."+string(key), "must be a string of one line")
		default:
			p.headers = slices.DeleteFunc(p.headers, func(h [2]string) bool { return h[0] == name })
			p.headers = append(p.headers, [2]string{name, string(s)})
		}
	})
}

// isToken reports whether s is a valid header name (RFC 9110).
func isToken(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

func (p *parser) reasoningFields(v []byte) {
	var isList bool
	if p.reasoning, isList = p.texts("reasoningFields", v); !isList || len(p.reasoning) > MaxReasoningFields {
		p.fail("reasoningFields", "must be a list of at most 8 names")
	}
}

// texts reads a list of non-empty strings.
func (p *parser) texts(name string, v []byte) (list []string, isList bool) {
	err := value.EachItem(v, func(_ int, item []byte) bool {
		s, ok := value.String(item)
		if !ok || len(s) == 0 {
			p.fail(name, "must only contain non-empty strings")
			return false
		}
		list = append(list, string(s))
		return true
	})
	return list, err == nil
}

// body adds members to the request unchanged.
func (p *parser) body(v []byte) {
	p.members("body", v, func(key, val []byte) {
		name := string(key)
		switch m := p.known(name); {
		case slices.Contains(p.protocol.Reserved, name):
			p.fail("body."+name, "is set by the executor")
		case m != nil && m.Bounded && m.Min == m.Max && m.problem(val) != "":
			p.fail("body."+name, m.problem(val))
		default:
			p.pass("body."+name, name, val)
		}
	})
}

// pass adds a member to the request.
func (p *parser) pass(option, name string, v []byte) {
	if slices.Contains(p.seen, name) {
		p.fail(option, "is given twice")
		return
	}
	p.seen = append(p.seen, name)
	if slices.Contains(p.protocol.WithTools, name) {
		p.toolOnly = appendMember(p.toolOnly, name, v)
	} else {
		p.head.Members = appendMember(p.head.Members, name, v)
	}
}

// appendMember appends `,"name":value`.
func appendMember(dst []byte, name string, v []byte) []byte {
	dst = append(value.AppendJSONString(append(dst, ','), name), ':')
	dst, _ = value.AppendJSON(dst, v) // well-formed: the whole options were checked
	return dst
}

// toolExtras sets members to add to tool definitions, such as strict.
func (p *parser) toolExtras(v []byte) {
	p.members("toolExtras", v, func(tool, extras []byte) {
		option := "toolExtras." + string(tool)
		var text []byte
		p.members(option, extras, func(key, val []byte) {
			if slices.Contains(p.protocol.OfTools, string(key)) {
				p.fail(option+"."+string(key), "is set by the executor")
			} else {
				text = appendMember(text, string(key), val)
			}
		})
		if p.extras == nil {
			p.extras = make(map[string][]byte)
		}
		p.extras[string(tool)] = text
	})
}

// address builds the request's URL from the base URL. A query of the base URL stays at the end.
func (p *parser) address() {
	base, query := p.baseURL, ""
	if i := strings.IndexByte(base, '?'); i >= 0 {
		base, query = base[:i], base[i:]
	}
	rest, ok := strings.CutPrefix(base, "https://")
	if !ok {
		rest, ok = strings.CutPrefix(base, "http://")
	}
	authority, _, _ := strings.Cut(rest, "/")
	if !ok || authority == "" || strings.ContainsAny(p.baseURL, " #\t\r\n") {
		if p.baseURL != "" {
			p.fail("baseURL", "must be an http or https URL")
		}
		return
	}
	if p.provider == nil {
		return
	}
	path, more, _ := strings.Cut(p.provider.Path(p.head.Model, p.stream), "?")
	p.url = strings.TrimSuffix(base, "/") + path + query
	switch {
	case more != "" && query == "":
		p.url += "?" + more
	case more != "":
		p.url += "&" + more
	}
	p.endpoint = authority[strings.LastIndexByte(authority, '@')+1:]
	// A port does not identify an endpoint, and a random one would make equal turns differ.
	if i := strings.LastIndexByte(p.endpoint, ':'); i > strings.LastIndexByte(p.endpoint, ']') {
		p.endpoint = p.endpoint[:i]
	}
}

// build prepares the parts that do not depend on a request.
func (p *parser) build() {
	p.native, p.extra = p.protocol.Reasoning, "extra"
	if p.protocol.ByHost {
		p.native += "@" + p.endpoint
		p.extra = p.native
	}
	p.head.Host, p.head.Stream, p.head.Usage = p.endpoint, p.stream, p.includeUsage
	if p.engine == nil {
		p.output.place(p.provider, &p.head)
	} else if p.output.schema != nil && p.output.mode != modePrompt {
		p.engine.Match(p.output.given, p.output.text)
	}
	accept := framing.Single.MediaType()
	if p.stream {
		accept = p.protocol.Format.MediaType()
	}
	for _, h := range p.protocol.Headers {
		p.headers = withDefault(p.headers, h[0], h[1])
	}
	p.headers = withDefault(p.headers, "accept", accept)
	p.headers = withDefault(p.headers, "content-type", "application/json")
}

func withDefault(headers [][2]string, name, val string) [][2]string {
	for _, h := range headers {
		if h[0] == name {
			return headers
		}
	}
	return append(headers, [2]string{name, val})
}
