package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/internal/guard"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/wazero"
)

// DefaultMaxBytes is the size of the largest file that is loaded unless [ModuleOptions] say otherwise: 32 MiB.
const DefaultMaxBytes = 32 << 20

// stepTimeout is how long a step of an agent may take, and its start. An agent in a worker of JavaScript has as long.
// Tests shorten it.
var stepTimeout = 10 * time.Second

// ModuleOptions say how an agent's file becomes a module. The zero value is fine.
type ModuleOptions struct {
	// MaxBytes bounds the file's size. 0 means [DefaultMaxBytes].
	MaxBytes int
	// Engine compiles the module. nil means wazero, metered: what a module may do in a step and as it starts is bounded,
	// by fuel and by 10 seconds. An engine given here should be bounded, too, unless the author is trusted.
	Engine func(ctx context.Context, module []byte) (host.Engine, error)
}

// Options say what an agent is granted, and have what the grant only names. The zero value grants nothing.
type Options struct {
	ModuleOptions
	// Grant says what the agent may do. nil grants nothing: an agent that asks for something is refused.
	Grant *Grant
	// Options are the agent's own, a JSON text that fits the schema in its manifest. nil for none.
	Options json.RawMessage
	// Tools, Stores and Model are the program's. The agent gets those of them that the grant names, and no others.
	Tools  []*turns.Tool
	Stores map[string]store.Store
	// Store is the name of the granted store that keeps the agent's conversations. It may be empty where the grant names
	// one store, or none.
	Store string
	// Model makes a model that the grant names, "openai/gpt-4o-mini" as Model("openai", "gpt-4o-mini"), with the key for
	// it.
	Model func(provider, name string) (turns.Model, error)
	// Secret returns the secret of a credential. nil means [Secret.Read]: from the environment or a file, as the grant
	// says.
	Secret func(credential GrantCredential) (string, error)
	// Host has the options of the agent's own host, such as its clock. Load sets its Engine, Credentials and AllowOrigin.
	// HTTP, if it is given, sends the requests that may be sent, and has to check itself what addresses names stand for;
	// nil does so, and uses no proxy.
	Host turns.HostOptions
}

// Module is an agent's file, read and compiled. It can do nothing until it is loaded with a grant. Make one with
// [Open].
type Module struct {
	manifest *Manifest
	engine   host.Engine
	outside  bool // it has no agent inside, as the core has none

	mu     sync.Mutex
	agents map[*Agent]struct{} // that are not closed
	closed bool
}

// Open reads an agent's file and compiles it. It runs the module's code, as far as to ask what it is, with no grant.
//
// A file that is too large fails with [host.CodeAgentTooLarge], anything but a Turncore module with
// [host.CodeInvalidModule], a module of another major version of the ABI with [host.CodeABIVersion], and a file whose
// manifest is missing, breaks a rule or says something else than the module itself with [host.CodeAgentManifest].
func Open(ctx context.Context, file []byte, options ModuleOptions) (*Module, error) {
	manifest, err := options.read(file)
	if err != nil {
		return nil, err
	}
	return options.compile(ctx, file, manifest)
}

func (o *ModuleOptions) read(file []byte) (*Manifest, error) {
	if most := cmp.Or(max(o.MaxBytes, 0), DefaultMaxBytes); len(file) > most {
		return nil, host.NewError(host.CodeAgentTooLarge, fmt.Sprintf("%d bytes, at most %d are allowed", len(file), most), nil)
	}
	return ReadManifest(file)
}

// start compiles a module.
func (o *ModuleOptions) start(ctx context.Context, file []byte) (host.Engine, error) {
	if o.Engine != nil {
		e, err := o.Engine(ctx, file)
		if err == nil && e == nil {
			err = host.NewError(host.CodeInvalidValue, "engine: the function returned none", nil)
		}
		return e, err
	}
	return wazero.New(ctx, file, wazero.WithFuel(engine.Fuel{}), wazero.WithStepTimeout(stepTimeout))
}

// compile makes a module, and holds its manifest against what it says of itself.
func (o *ModuleOptions) compile(ctx context.Context, file []byte, manifest *Manifest) (*Module, error) {
	e, err := o.start(ctx, file)
	if err != nil {
		return nil, err
	}
	said, err := describe(ctx, e)
	if err == nil {
		err = manifest.hold(said)
	}
	if err != nil {
		_ = e.Close(ctx) // what is refused is the module
		return nil, err
	}
	return &Module{manifest: manifest, engine: e, outside: said == nil, agents: map[*Agent]struct{}{}}, nil
}

// Manifest says what the agent is and what it asks for. Do not change it.
func (m *Module) Manifest() *Manifest { return m.manifest }

// Close closes the agents that are still open, whose turns fail with [turns.ErrClosed], and frees the compiled code.
// Use Shutdown of their hosts first to let the turns finish.
func (m *Module) Close(ctx context.Context) error {
	m.mu.Lock()
	open := m.agents
	m.agents, m.closed = nil, true
	m.mu.Unlock()
	var errs []error
	for a := range open {
		errs = append(errs, a.close(ctx))
	}
	return errors.Join(append(errs, m.engine.Close(ctx))...)
}

// Agent is an agent with its grant. Make one with [Load] or [Module.Load].
type Agent struct {
	module *Module
	own    bool   // closes the module
	idle   func() // closes connections that no request uses; nil for those of the program
	grant  *Grant
	host   *turns.Host
	config turns.Config
}

// Load reads an agent's file, compiles it and grants it what options say. It fails like [Open], and beside that with
// [host.CodeAgentGrant] for a grant that breaks a rule, is for another agent or names what the program lacks, and with
// [host.CodeAgentNotGranted], which lists everything that the agent asks for and the grant lacks. Nothing of the module
// runs before that.
func Load(ctx context.Context, file []byte, options Options) (*Agent, error) {
	manifest, err := options.read(file)
	if err != nil {
		return nil, err
	}
	granted, err := options.granted(manifest)
	if err != nil {
		return nil, err
	}
	module, err := options.compile(ctx, file, manifest)
	if err != nil {
		return nil, err
	}
	return granted.agent(module, true)
}

// Load returns the agent with a grant of its own, as a tenant has one: it shares the compiled code with the module's
// other agents and nothing else. It fails like the function Load, and with [turns.ErrClosed] once the module is closed.
// ModuleOptions do not matter.
func (m *Module) Load(options Options) (*Agent, error) {
	granted, err := options.granted(m.manifest)
	if err != nil {
		return nil, err
	}
	return granted.agent(m, false)
}

// granted is what an agent gets.
type granted struct {
	grant  *Grant
	host   turns.HostOptions
	idle   func()
	guard  guard.Guard
	config turns.Config
}

// granted looks up what the grant names.
func (o *Options) granted(m *Manifest) (*granted, error) {
	grant := o.Grant
	if grant != nil {
		if err := grant.valid(); err != nil {
			return nil, err
		}
	}
	if err := grant.Check(m); err != nil {
		return nil, err
	}
	if grant == nil {
		grant = &Grant{Agent: m.Name}
	}
	g := &granted{grant: grant, host: o.Host}
	var list []string
	lacks := func(field, why string) { list = append(list, "`"+field+"`: "+why) }
	for i, name := range grant.Tools {
		field := fmt.Sprintf("tools[%d]", i)
		var named []*turns.Tool
		for _, t := range o.Tools {
			if t != nil && t.Name == name {
				named = append(named, t)
			}
		}
		switch {
		case slices.ContainsFunc(m.Tools, func(t Tool) bool { return t.Name == name }):
			lacks(field, "the agent brings a tool "+name+" itself")
		case len(named) == 0:
			lacks(field, "the program has no tool "+name)
		case len(named) > 1:
			lacks(field, "the program has more than one tool "+name)
		default:
			g.config.Tools = append(g.config.Tools, named[0])
		}
	}
	for i, name := range grant.Stores {
		if o.Stores[name] == nil {
			lacks(fmt.Sprintf("stores[%d]", i), "the program has no store "+name)
		}
	}
	switch kept := o.Store; {
	case kept != "" && !slices.Contains(grant.Stores, kept):
		lacks("stores", "the option store says "+kept+", which is not among them")
	case kept == "" && len(grant.Stores) > 1:
		lacks("stores", "the option store must say which of "+strings.Join(grant.Stores, ", ")+" keeps the conversations")
	case len(grant.Stores) > 0:
		g.config.Store = o.Stores[cmp.Or(kept, grant.Stores[0])]
	}
	models := map[string]turns.Model{}
	for _, asked := range slices.Sorted(maps.Keys(grant.Models)) {
		model, err := o.model(grant.Models[asked])
		if err != nil {
			lacks(join("models", asked), err.Error())
			continue
		}
		models[asked] = model
	}
	g.host.Credentials = map[string]model.Credential{}
	route := &router{agent: o.Host.HTTP, endpoint: o.Host.HTTP}
	if grant.HTTP != nil {
		route.origins = grant.HTTP.Origins
	}
	if o.Host.HTTP == nil {
		direct := transport(grant.HTTP != nil && grant.HTTP.PrivateAddresses, nil)
		g.idle, route.agent, route.endpoint = direct.CloseIdleConnections, direct, http.DefaultTransport
	}
	own := m.agent()
	own.Options, own.Asked = o.Options, route.asked
	switch {
	case o.Options != nil && m.Options == nil:
		return nil, host.NewError(host.CodeInvalidValue, "options: the agent "+m.Name+" has none", nil)
	case o.Options != nil && !json.Valid(o.Options):
		return nil, host.NewError(host.CodeInvalidValue, "options: are no JSON", nil)
	}
	engines := map[string]*model.Engine{} // by the names by which the module is told of them
	for _, asked := range slices.Sorted(maps.Keys(models)) {
		one := models[asked]
		chat := &model.ChatOptions{Model: one.Name, Provider: one.Provider, Engine: one.Engine, Options: one.Options}
		own.Models[asked] = chat
		if len(m.Asks.Models) > 0 && asked == m.Asks.Models[0].Name {
			own.Chat = chat
		}
		if one.Engine != nil {
			name := cmp.Or(one.Name, one.Engine.Name, "engine")
			if other := engines[name]; other != nil && other != one.Engine {
				lacks(join("models", asked), "another of its models has the name "+name+": give this one a name of its own")
			}
			engines[name] = one.Engine
			continue
		}
		endpoint, key := endpointOf(one, modelCredential+" "+asked)
		chat.BaseURL, chat.Credential, endpoint.chat = endpoint.base, endpoint.credential, chat
		route.models = append(route.models, endpoint)
		if endpoint.credential != "" {
			g.host.Credentials[endpoint.credential] = key
		}
	}
	for i, c := range grant.Credentials {
		if c.Name == modelCredential {
			lacks(fmt.Sprintf("credentials[%d].name", i), "it is the name of a model's own key")
			continue
		}
		secret, err := o.secret(c)
		if err != nil {
			lacks(fmt.Sprintf("credentials[%d].from", i), err.Error())
			continue
		}
		if why := unusable(secret); why != "" {
			lacks(fmt.Sprintf("credentials[%d].from", i), why)
			continue
		}
		g.host.Credentials[c.Name] = c.credential(secret)
	}
	g.host.AllowOrigin = route.allows
	q := grant.Quota.or(DefaultQuota)
	g.guard = guard.Guard{
		Quota: guard.Usage{Steps: q.Steps, Frames: q.Frames, Effects: q.Effects, Bytes: q.Bytes, Tokens: q.Tokens},
		Route: route.route, Agent: own,
	}
	if grant.Log != nil {
		g.guard.Log = grant.Log.BytesPerTurn
	}
	return g, grantDocument.wrong(list...)
}

func (g *granted) agent(m *Module, own bool) (*Agent, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, host.NewError(host.CodeClosed, "the module of the agent "+m.manifest.Name+" was closed", nil)
	}
	g.host.Engine = m.engine
	g.guard.Agent.Outside = m.outside
	a := &Agent{module: m, own: own, idle: g.idle, grant: g.grant, host: turns.NewHost(g.host), config: g.config}
	guard.Attach(a.host, &g.guard)
	a.config.Host = a.host
	m.agents[a] = struct{}{}
	return a, nil
}

// model makes a granted model.
func (o *Options) model(named string) (turns.Model, error) {
	provider, name, _ := strings.Cut(named, "/")
	if o.Model == nil {
		return turns.Model{}, fmt.Errorf("the program has no model %s", named)
	}
	return o.Model(provider, name)
}

// secret finds the secret of a credential.
func (o *Options) secret(c GrantCredential) (string, error) {
	if o.Secret != nil {
		return o.Secret(c)
	}
	return c.From.Read()
}

// Read returns the secret. The error names where it is missing, and nothing of what was read.
func (s Secret) Read() (string, error) {
	if s.Env != "" {
		if value := os.Getenv(s.Env); value != "" {
			return value, nil
		}
		return "", fmt.Errorf("the variable %s is not set", s.Env)
	}
	text, err := os.ReadFile(s.File)
	if err != nil {
		return "", err
	}
	if value := strings.TrimSpace(string(text)); value != "" {
		return value, nil
	}
	return "", fmt.Errorf("the file %s is empty", s.File)
}

// minSecret is the size of the shortest secret, in bytes: a shorter one cannot be told from ordinary text, so that it
// could not be taken out of what comes back.
const minSecret = 8

// unusable says why a secret cannot be sent, or not be kept from the agent; "" for nothing.
func unusable(secret string) string {
	switch {
	case strings.ContainsFunc(secret, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }):
		return "the secret has a character that no header may have, such as the end of a line"
	case len(strings.TrimSpace(secret)) < minSecret:
		return fmt.Sprintf("the secret has less than %d bytes, too few to be taken out of what comes back", minSecret)
	}
	return ""
}

// credential is the credential with its secret.
func (c *GrantCredential) credential(secret string) model.Credential {
	header, scheme := cmp.Or(c.Header, "authorization"), ""
	switch {
	case c.Scheme != nil:
		scheme = *c.Scheme
	case strings.EqualFold(header, "authorization"):
		scheme = "Bearer"
	}
	if scheme != "" {
		secret = scheme + " " + secret
	}
	return model.Credential{Header: header, Value: secret, Origins: c.Origins}
}

// Manifest says what the agent is and what it asks for. Do not change it.
func (a *Agent) Manifest() *Manifest { return a.module.manifest }

// Grant says what the agent may do. Do not change it.
func (a *Agent) Grant() *Grant { return a.grant }

// Host runs the agent's turns, and enforces its grant.
func (a *Agent) Host() *turns.Host { return a.host }

// Config is the configuration of the agent's runners, for [turns.New]: its host, and what it was granted of the
// program's tools and stores. Such a runner has the agent's executor, tools and middleware, and the models of the
// grant. What a program adds to it, it gives to the agent; with a Model or an Executor of its own the runner gets none
// of the agent's.
//
// A module without an agent inside, such as the core with a manifest, has no executor of its own. Its runners call the
// first model that it asks for, and need an Executor if the grant names none: turns.New fails with
// [host.CodeInvalidTurnRunnerConfig] without.
func (a *Agent) Config() turns.Config {
	config := a.config
	config.Tools = slices.Clone(config.Tools)
	return config
}

// Close ends the agent's turns, which fail with [turns.ErrClosed], and frees the compiled code that [Load] made. Use
// Shutdown of its Host first to let them finish.
func (a *Agent) Close(ctx context.Context) error {
	a.module.mu.Lock()
	delete(a.module.agents, a)
	a.module.mu.Unlock()
	err := a.close(ctx)
	if a.own {
		err = errors.Join(err, a.module.Close(ctx))
	}
	return err
}

// close ends the agent's turns, and the connections that they have left.
func (a *Agent) close(ctx context.Context) error {
	err := a.host.Close(ctx)
	if a.idle != nil {
		a.idle()
	}
	return err
}
