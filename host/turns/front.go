package turns

import (
	"cmp"
	"context"
	"io"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/check"
	"github.com/turncore/turncore/host/internal/exchange"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

// Bounds on iterations for Config.MaxIterations.
const (
	// DefaultMaxIterations is the default bound.
	DefaultMaxIterations = 16
	// Unbounded sets no bound: nothing stops a model that keeps calling tools.
	Unbounded = -1
)

// Model is a model behind an API, or one that the host runs itself.
type Model struct {
	Name string // required without an Engine
	// Provider is the protocol of the API: OpenAI's chat completions if empty.
	Provider model.Provider
	BaseURL  string // up to the version; that of the Provider if empty
	APIKey   string // sent to the base URL's origin only; "" sends none
	// Engine is a model that the host runs itself, instead of an API: it has no Provider, BaseURL or APIKey.
	Engine *model.Engine
	// Options are members of the request such as "temperature", by the names that the provider's API has for them, and
	// options of the chat executor. [model.OpenAIOptions] and the others have them typed.
	Options map[string]any
}

// Config configures New. Only Model or Executor is required, and neither on the host of an agent, which brings its own.
type Config struct {
	Model    Model
	Executor Executor // the program's own, instead of a Model

	// Schema is a JSON Schema, draft 2020-12, that the Model's answers must match: JSON text, or anything that marshals
	// to it. nil for free text. Object and PartialObjects return their data.
	Schema any
	// System is the system prompt of every turn.
	System string
	Tools  []*Tool
	// Store keeps the conversations: one in memory by default. See [store.Newest] for what else it may do.
	Store store.Store
	// WhenBusy says what becomes of a turn while another one of its session runs in the process: Queue by default.
	WhenBusy WhenBusy
	// MaxIterations bounds the iterations of a turn; 0 means DefaultMaxIterations, and Unbounded none.
	MaxIterations int

	// Tokenizers by the names of their encodings, as in TurnRunnerConfig.
	Tokenizers map[string]record.Tokenizer

	TurnInputPipeline      []TurnMiddleware // run after the conversation was loaded
	TurnOutputPipeline     []TurnMiddleware
	DispatchInputPipeline  []DispatchMiddleware
	DispatchOutputPipeline []DispatchMiddleware

	// WrapTool and WrapModel run around each call of a tool's handler and of a model, the first one outermost.
	WrapTool  []ToolWrapper
	WrapModel []model.Wrapper

	// Host runs the turns. It has the Credentials that a Model needs: under the name "model", unless it sends none. nil
	// gives the runner its own host, on Engine, which cannot be given beside a Host.
	Host   *Host
	Engine host.Engine
}

// WhenBusy says what becomes of a turn while another one of its session runs.
type WhenBusy string

const (
	// Queue has turns of a session run one after the other, in the order in which they were started, by whichever runners
	// with the store.
	Queue WhenBusy = "queue"
	// Refuse fails a turn with E_SESSION_BUSY, before any event.
	Refuse WhenBusy = "refuse"
)

// defaultSystem is the system prompt of a runner that was given none.
const defaultSystem = "You are a helpful assistant."

// Runner is a TurnRunner with defaults for everything: storage, the conversation loaded at the start of every turn,
// and a bound on iterations.
type Runner struct {
	*TurnRunner
	system string
	keeper *keeper
	refuse bool // a turn of a session while another one runs
}

// modelCredential is the name of the credential that a Model's key becomes.
const modelCredential = "model"

// New returns a runner and loads the core. Close it when done. An invalid configuration fails with
// E_INVALID_TURN_RUNNER_CONFIG, whose message lists all violations, and two tools of one name with
// E_TOOL_ALREADY_REGISTERED, which names both.
func New(ctx context.Context, config Config) (*Runner, error) {
	if config.Store == nil {
		config.Store = store.NewInMemory()
	}
	keeper := keeperOf(config.Store)
	full := TurnRunnerConfig{
		Executor: config.Executor, Callbacks: storeCallbacks(keeper), Tools: config.Tools, Host: config.Host,
		TurnInputPipeline:      append([]TurnMiddleware{loadConversation(keeper)}, config.TurnInputPipeline...),
		TurnOutputPipeline:     config.TurnOutputPipeline,
		DispatchInputPipeline:  config.DispatchInputPipeline,
		DispatchOutputPipeline: config.DispatchOutputPipeline,
		MaxIterations:          config.MaxIterations,
		Tokenizers:             config.Tokenizers,
		WrapTool:               config.WrapTool,
		WrapModel:              config.WrapModel,
		front:                  true,
		wrong:                  config.wrong(),
	}
	switch config.MaxIterations {
	case 0:
		full.MaxIterations = DefaultMaxIterations
	case Unbounded:
		full.MaxIterations = 0
	}
	var credentials map[string]model.Credential
	if config.Model.given() {
		full.Chat, credentials = config.Model.chat()
		full.Chat.Schema = config.Schema
	}
	own := full.Host == nil
	if own {
		full.Host = NewHost(HostOptions{Engine: config.Engine, Credentials: credentials})
	}
	r, err := NewTurnRunner(full)
	if err != nil {
		return nil, err
	}
	r.ownHost = own
	if err := twoOfOneName(r.config.tools, len(config.Tools)); err != nil {
		_ = r.Close() // the error that matters is err
		return nil, err
	}
	// What is wrong with a tool's schema or an option shows here.
	c, _, err := r.host.pool().Open(ctx, r.config)
	if err != nil {
		_ = r.Close() // the error that matters is err
		return nil, err
	}
	r.host.pool().Release(c)
	return &Runner{TurnRunner: r, system: cmp.Or(config.System, defaultSystem), keeper: keeper, refuse: config.WhenBusy == Refuse}, nil
}

// wrong lists what is wrong with the fields that a TurnRunnerConfig does not have, and those that would be ignored.
func (c *Config) wrong() (list []string) {
	switch c.WhenBusy {
	case "", Queue, Refuse:
	default:
		list = append(list, "`whenBusy` must be \"queue\" or \"refuse\"")
	}
	list = append(list, c.Model.wrong("model")...)
	if c.Schema != nil && !c.Model.given() {
		list = append(list, "`schema` needs a `model`")
	}
	if c.Host != nil && c.Engine != nil {
		list = append(list, abi.Violation(abi.RuleHasItsOwn, "field", "engine", "type", "host"))
	}
	return list
}

// twoOfOneName is the error of two tools of one name, nil for none. Those behind the first few are an agent's.
func twoOfOneName(tools []*Tool, own int) error {
	field := func(i int) string {
		if i < own {
			return check.At("tools", i)
		}
		return "the agent's"
	}
	for i, tool := range tools {
		for j, other := range tools[:i] {
			if tool.Name == other.Name {
				why := tool.Name + ": it is the name of " + field(j) + " and of " + field(i)
				return newError(abi.CodeToolAlreadyRegistered, why, nil)
			}
		}
	}
	return nil
}

// given tells whether any field is set: then there is to be a model.
func (m *Model) given() bool {
	return m.Name != "" || m.Engine != nil || m.Provider != "" || m.BaseURL != "" || m.APIKey != "" || len(m.Options) > 0
}

// wrong lists which field is missing, and which would be ignored. What else is wrong the core finds out.
func (m *Model) wrong(field string) (list []string) {
	switch {
	case m.Engine == nil:
		if m.Name == "" && m.given() {
			list = append(list, abi.Violation(abi.RuleRequiredWithout, "field", field+".name", "other", field+".engine"))
		}
	case m.APIKey != "":
		list = append(list, "`"+field+".apiKey` cannot be given beside `"+field+".engine`, which needs none")
	}
	return list
}

// chat is the model as options of the chat executor, and the credentials that they name.
func (m *Model) chat() (*model.ChatOptions, map[string]model.Credential) {
	o := &model.ChatOptions{Model: m.Name, Provider: m.Provider, BaseURL: m.BaseURL, Engine: m.Engine, Options: m.Options}
	if o.Engine != nil {
		return o, nil
	}
	if named, ok := m.Options["provider"].(string); ok && o.Provider == "" {
		o.Provider = model.Provider(named)
	}
	o.BaseURL = cmp.Or(o.BaseURL, o.Provider.BaseURL())
	if m.APIKey == "" {
		return o, nil
	}
	o.Credential = modelCredential
	credentials := map[string]model.Credential{}
	if origin := exchange.Origin(o.BaseURL); origin != "" {
		credentials[modelCredential] = o.Provider.Key(m.APIKey, origin)
	}
	return o, credentials
}

// Input is the input of a turn of a Runner.
type Input struct {
	Message     string          // the user's message
	Attachments []*record.Media // sent with it: pictures, files; alone without a Message
	Session     string          // its conversation: at most 512 bytes of UTF-8; DefaultSession if empty
	System      string          // replaces the runner's system prompt
	// StandingInstructions are texts for the model in addition to the system prompt, in this turn.
	StandingInstructions []string
	TurnID               string // as in TurnInput
	Stash                map[string]any
	OnEvent              func(event.Event) // as in TurnInput
	Journal              io.Writer         // as in TurnInput
}

func (r *Runner) input(in Input) (TurnInput, error) {
	r.mustBeMade()
	session, err := sessionNamed("session", in.Session)
	if err != nil {
		return TurnInput{}, err
	}
	stash := map[string]any{SessionKey: session}
	for key, v := range in.Stash {
		if key == SessionKey {
			return TurnInput{}, check.Invalid(abi.TurnInputRules, []string{"`stash." + SessionKey + "` is what `session` sets"})
		}
		stash[key] = v
	}
	full := TurnInput{
		TurnID: in.TurnID, SystemPrompt: cmp.Or(in.System, r.system), StandingInstructions: in.StandingInstructions,
		Text: in.Message, Attachments: in.Attachments, Stash: stash, OnEvent: in.OnEvent, Journal: in.Journal,
	}
	full.enter = func(ctx context.Context) (context.Context, func(), error) {
		return r.keeper.enter(ctx, session, r.refuse, r.flight.Until)
	}
	full.said = func(ctx context.Context) (said, error) { return r.keeper.said(ctx, session, in.TurnID) }
	return full, nil
}

// Store keeps the conversations.
func (r *Runner) Store() store.Store { return r.keeper.store }

// Run runs a turn to its end. Cancelling ctx aborts it. The error says why the turn did not ack (with a result), or
// why the input was rejected (without one): see TurnRunner.Run.
func (r *Runner) Run(ctx context.Context, in Input) (*Result, error) {
	full, err := r.input(in)
	if err != nil {
		return nil, err
	}
	return r.TurnRunner.Run(ctx, full)
}

// Stream starts a turn and returns a stream of its events.
func (r *Runner) Stream(ctx context.Context, in Input) *Stream {
	full, err := r.input(in)
	if err != nil {
		s := newStream(func() {})
		s.end(nil, err)
		return s
	}
	return r.TurnRunner.Stream(ctx, full)
}
