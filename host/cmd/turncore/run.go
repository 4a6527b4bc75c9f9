package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/recording"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/simulated"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/store/sqlite"
	"github.com/turncore/turncore/host/turns"
)

// defaultSystem is the system prompt where none is given.
const defaultSystem = "You are a helpful assistant."

// simulatedURL is where the simulated model seems to be.
const simulatedURL = "http://simulated/v1"

// defaultSeed cuts a recording's responses where no seed is given.
const defaultSeed = 1

// credential is the name that the core knows the key by.
const credential = "key"

// maxPrompt bounds what is read from standard input, in bytes.
const maxPrompt = 8 << 20

// session is a conversation: a runner and what it needs.
type session struct {
	flags  *runFlags
	screen *screen
	system string // prompt; "" for none
	runner *turns.Runner
	player *player // nil unless a recording is played
	last   *turns.TurnContext
	now    func() int64
	close  []func()
}

func (c *command) run(args []string) error {
	o, err := c.parseRun(args)
	if o == nil || err != nil {
		return err
	}
	if o.engine.isAway() {
		return c.away(o)
	}
	chat := false
	if o.recording == "" && (o.prompt == "" || o.prompt == "-") {
		if chat = o.prompt == "" && isTTY(c.stdin) && !o.json; !chat {
			if o.prompt, err = c.readPrompt(); err != nil {
				return err
			}
		}
	}
	if chat && o.log != "" {
		return usagef("run", "--log is for one turn: give a prompt")
	}
	s, err := c.open(o)
	if err != nil {
		return err
	}
	defer s.end()
	if chat {
		return c.chat(s)
	}
	return c.turn(s, o.prompt)
}

func (c *command) readPrompt() (string, error) {
	if isTTY(c.stdin) {
		return "", usagef("run", "there is no prompt")
	}
	text, err := io.ReadAll(io.LimitReader(c.stdin, maxPrompt+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("standard input: %w", err)
	case len(text) > maxPrompt:
		return "", fmt.Errorf("the prompt is longer than %d bytes", maxPrompt)
	}
	prompt := strings.TrimRight(string(text), "\r\n")
	if strings.TrimSpace(prompt) == "" {
		return "", usagef("run", "the prompt on standard input is empty")
	}
	return prompt, nil
}

// partsSeed decides in what parts a recording's responses come.
func (o *runFlags) partsSeed() uint32 {
	if o.seeded {
		return o.seed
	}
	return defaultSeed
}

// open makes what the turns need. What was made before something failed is closed again.
func (c *command) open(o *runFlags) (_ *session, err error) {
	s := c.newSession(o)
	defer func() {
		if err != nil {
			s.end()
		}
	}()
	ctx := context.Background()
	config, options := turns.Config{
		MaxIterations: o.maxIterations, TurnInputPipeline: []turns.TurnMiddleware{s.keep},
	}, s.hostOptions()
	kept, err := s.openStore(ctx)
	if err != nil {
		return nil, err
	}
	config.Store = kept
	if o.agent != "" {
		return s, c.load(ctx, s, config, options)
	}
	if err := s.prepare(ctx, &config, options); err != nil {
		return nil, err
	}
	s.runner, err = turns.New(ctx, config)
	return s, err
}

func (c *command) newSession(o *runFlags) *session {
	s := &session{flags: o, screen: newScreen(c.stdout, c.stderr, c.getenv), system: o.system}
	if s.system == "" && !o.noSystem {
		s.system = defaultSystem
	}
	return s
}

// hostOptions are what the host has of clock and entropy.
func (s *session) hostOptions() turns.HostOptions {
	options := turns.HostOptions{Clock: host.SystemClock(), Entropy: host.SystemEntropy()}
	if s.flags.fixedClock {
		options.Clock = host.FixedClock(host.FixedTime)
	}
	if s.flags.seeded {
		options.Entropy = host.SeededEntropy(s.flags.seed)
	}
	s.now = options.Clock
	return options
}

// openStore opens the database that the flags name; without one, what is said ends with the program.
func (s *session) openStore(ctx context.Context) (sessions.Store, error) {
	if s.flags.store == "" {
		return store.NewInMemory(), nil
	}
	kept, err := sqlite.Open(ctx, s.flags.store, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	s.close = append(s.close, func() { _ = kept.Close() }) // what is stored is on the disk
	return kept, nil
}

// prepare gives a configuration its model, its tools and its host.
func (s *session) prepare(ctx context.Context, config *turns.Config, options turns.HostOptions) (err error) {
	o := s.flags
	switch {
	case o.recording != "":
		err = s.play(config, &options)
	case o.isSimulated():
		err = s.simulate(config, &options)
	default:
		err = s.connect(config, &options)
	}
	if err != nil {
		return err
	}
	if options.Engine, err = o.engine.open(ctx, s.screen.notice); err != nil {
		return err
	}
	engine := options.Engine
	s.close = append(s.close, func() { _ = engine.Close(context.Background()) }) // the program ends
	if o.verbose {
		s.screen.note(s.screen.dim, "engine %s, module %s, model %s at %s", engine.Name(), engine.ModuleHash(), config.Model.Name, config.Model.BaseURL)
	}
	config.Host = turns.NewHost(options)
	s.close = append(s.close, func() { _ = config.Host.Close(context.Background()) })
	return nil
}

// end closes everything, in the opposite order.
func (s *session) end() {
	for i := len(s.close) - 1; i >= 0; i-- {
		s.close[i]()
	}
	s.close = nil
}

// keep keeps the turn's context, to tell at the end what it holds.
func (s *session) keep(ctx *turns.TurnContext, next func()) error {
	s.last = ctx
	if s.player != nil {
		ctx.Tools().Hide(s.player.hidden...)
	}
	next()
	return nil
}

// play sets the stage for a recording.
func (s *session) play(config *turns.Config, options *turns.HostOptions) (err error) {
	seed := s.flags.partsSeed()
	if s.player, err = newPlayer(s.flags.recording, seed, options.Clock); err != nil {
		return err
	}
	server, err := serve(s.player.server)
	if err != nil {
		return err
	}
	s.close = append(s.close, server.close)
	cuts := host.SeededEntropy(seed)
	server.cut = func(body io.ReadCloser) io.ReadCloser { return recording.Cut(body, cuts) }
	options.HTTP = server
	config.Model, config.Tools = s.player.model(), s.player.tools()
	s.system = s.player.conversation.System
	config.DispatchOutputPipeline = []turns.DispatchMiddleware{s.player.afterIteration}
	if s.flags.maxIterations == 0 {
		config.MaxIterations = turns.Unbounded // the recording ends
	}
	return s.player.store(config.Store, options.Clock())
}

// simulate serves the simulated model and offers it tools.
func (s *session) simulate(config *turns.Config, options *turns.HostOptions) error {
	server, err := serve(&simulated.Provider{})
	if err != nil {
		return err
	}
	s.close = append(s.close, server.close)
	s.screen.notice("the model is simulated; --provider, --base-url or --model choose a real one")
	options.HTTP = server
	config.Model = turns.Model{Name: cmp.Or(s.flags.model, simulated.Model), BaseURL: simulatedURL}
	for _, tool := range builtinTools(options.Clock) {
		if !s.flags.hasTool(tool.Name) {
			config.Tools = append(config.Tools, tool)
		}
	}
	config.Tools = append(config.Tools, s.flags.programs()...)
	return nil
}

// connect names the endpoint, and gives the host the key for it.
func (s *session) connect(config *turns.Config, options *turns.HostOptions) error {
	config.Model = turns.Model{Name: s.flags.model, Provider: s.flags.provider, BaseURL: s.flags.baseURL}
	config.Tools = s.flags.programs()
	if s.flags.key == "" {
		return nil
	}
	at, err := url.Parse(s.flags.baseURL)
	if err != nil {
		return err
	}
	config.Model.Options = map[string]any{"credential": credential}
	options.Credentials = map[string]model.Credential{credential: s.flags.provider.Key(s.flags.key, origin(at))}
	return nil
}

// origin is a URL's scheme and host, and its port unless it is the scheme's own.
func origin(u *url.URL) string {
	port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	return u.Scheme + "://" + strings.ToLower(strings.TrimSuffix(u.Host, port))
}
