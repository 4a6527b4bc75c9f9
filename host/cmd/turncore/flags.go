package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/simulated"
	"github.com/turncore/turncore/host/turns"
)

// defaultModel is asked for at an endpoint when none is named.
const defaultModel = "gpt-4o-mini"

// runFlags is what the command line and the environment ask of a run.
type runFlags struct {
	command string // whose flags they are
	prompt  string // "" if it is to be read

	provider model.Provider // "" for the simulated one
	baseURL  string
	key      string // of the endpoint
	model    string
	system   string // "" for the default
	tools    []programTool

	noSystem bool

	engine        engineFlags
	maxIterations int // as in turns.Config

	json       bool
	verbose    bool
	fixedClock bool
	seeded     bool
	seed       uint32
	log        string
	recording  string
	store      string // file of a database; "" for memory
	session    string
	agent      string // file
	grant      string // file
	options    json.RawMessage
}

const runHelp = `turncore run [PROMPT] [flags]

Runs one turn and streams the answer. PROMPT is what the user says; without it, or
as "-", it is read from standard input, and at a terminal a conversation begins.

Without a provider, a base URL and a model the model is simulated, which a note on
standard error says: it calls a tool that the prompt mentions. The tools current_time
and calculate are offered then.

Exit status: 0 if the turn acked, 1 if not, 2 for a command line that is wrong.
With --recording: 0 if the conversation went as recorded, 1 if not.

Environment: the provider's variables stand in for --base-url and --model, and have the key,
which is sent to the base URL's origin and nowhere else.

` + variablesHelp + `
Flags:
`

// parseRun reads the command line of a run. nil means that help was given.
func (c *command) parseRun(args []string) (*runFlags, error) {
	o := &runFlags{command: "run"}
	f := flag.NewFlagSet("run", flag.ContinueOnError)
	o.register(f)
	f.BoolVar(&o.json, "json", false, "print events as JSON lines, the last of them what the turn ended with")
	f.Func("max-iterations", "stop the turn before it begins iteration `n`+1; 0 sets no bound (16)", o.bound)
	f.Func("log", "write the turn's journal to `file`, for replay", set(&o.log))
	f.Func("recording", "play the recorded conversation in `file`, and compare the requests with it", set(&o.recording))
	f.Func("session", "`name` of the conversation in the store (\""+turns.DefaultSession+"\")", set(&o.session))
	f.Func("agent", "run the agent in `file`, which \"turncore agent build\" has made", set(&o.agent))
	f.Func("grant", "grant the agent what `file` says, and nothing else", set(&o.grant))
	f.Func("options", "the agent's own options, as `JSON`", func(s string) error {
		if !json.Valid([]byte(s)) {
			return errors.New("it is no JSON")
		}
		o.options = json.RawMessage(s)
		return nil
	})
	rest, helped, err := c.parse(f, runHelp, args)
	if helped || err != nil {
		return nil, err
	}
	given := map[string]bool{}
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if o.recording == "" && o.agent == "" {
		o.environment(c.getenv)
	}
	return o, o.check(rest, given)
}

// register adds the flags of a model, its tools, what it runs on and where it is kept.
func (o *runFlags) register(f *flag.FlagSet) {
	f.Func("base-url", "`URL` of the provider's API, up to the version (the provider's own)", set(&o.baseURL))
	f.Func("model", "`name` of the model (\""+defaultModel+"\" with OpenAI's providers, or \""+simulated.Model+"\" when it is simulated)", set(&o.model))
	f.Func("provider", "`name` of the protocol that the model's API speaks: "+providerNames()+"\n(openai, when there is a base URL, or a model and OPENAI_API_KEY)", o.setProvider)
	f.Func("system", "system prompt `text`; an empty one sends none", func(s string) error {
		o.system, o.noSystem = s, s == ""
		return nil
	})
	f.Func("tool", "offer a program as a tool, as `NAME=CMD` or NAME:DESCRIPTION=CMD; it reads the arguments as\n"+
		"JSON from standard input and writes its result to standard output; may be repeated", o.addTool)
	o.engine.register(f)
	f.BoolVar(&o.fixedClock, "fixed-clock", false, "let the clock stand still at 2026-01-01T00:00:00Z")
	f.Func("seed", "take ids and randomness from a generator that begins with `n`: for reproducible runs only", o.setSeed)
	f.Func("store", "keep the conversation in the SQLite database in `file`, which is made if need be", set(&o.store))
	f.BoolVar(&o.verbose, "verbose", false, "tell more on standard error")
}

// environment takes what the command line leaves open from the environment, as far as it is of the provider.
func (o *runFlags) environment(getenv func(string) string) {
	if o.provider == "" && o.baseURL == "" {
		if o.baseURL = getenv("OPENAI_BASE_URL"); o.baseURL == "" {
			if o.model == "" {
				o.model = getenv("OPENAI_MODEL")
			}
			if o.isSimulated() || getenv("OPENAI_API_KEY") == "" {
				return // check refuses another model
			}
		}
	}
	o.provider = cmp.Or(o.provider, model.OpenAI)
	names := variablesOf[o.provider]
	o.baseURL = cmp.Or(o.baseURL, names.address(o.provider, getenv), o.provider.BaseURL())
	if names.model != "" && o.model == "" {
		o.model = cmp.Or(getenv(names.model), defaultModel)
	}
	if names.key != "" {
		o.key = getenv(names.key)
	}
}

// wrong is a command line that makes no sense.
func (o *runFlags) wrong(format string, args ...any) error { return usagef(o.command, format, args...) }

// isSimulated tells whether the model is the simulated one.
func (o *runFlags) isSimulated() bool {
	return o.provider == "" && o.baseURL == "" && (o.model == "" || o.model == simulated.Model)
}

// checkModel refuses a model that nobody would answer for.
func (o *runFlags) checkModel() error {
	name := variablesOf[o.provider].key
	u, err := url.Parse(o.baseURL)
	switch {
	case o.baseURL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == ""):
		return o.wrong("the base URL must be one of http or https")
	case o.isSimulated():
		return nil
	case o.provider == "":
		return o.wrong("the model %q needs a provider: set OPENAI_API_KEY, or give --provider or --base-url", o.model)
	case o.model == "":
		return o.wrong("--provider %s needs a --model", o.provider)
	case name != "" && o.key == "" && o.baseURL == o.provider.BaseURL():
		return o.wrong("%s needs a key: set %s, or give the --base-url of an endpoint that needs none", o.provider, name)
	}
	return nil
}

// setProvider takes "responses" for openai-responses, too.
func (o *runFlags) setProvider(s string) error {
	if s == "responses" {
		s = string(model.OpenAIResponses)
	}
	if !slices.Contains(model.Providers(), model.Provider(s)) {
		return fmt.Errorf("it must be one of %s", providerNames())
	}
	o.provider = model.Provider(s)
	return nil
}

func providerNames() string {
	var names []string
	for _, p := range model.Providers() {
		names = append(names, string(p))
	}
	return strings.Join(names, ", ")
}

func (o *runFlags) check(rest []string, given map[string]bool) error {
	if o.engine.isAway() {
		switch {
		case o.recording == "":
			return o.wrong("the engine %s plays recordings only: give --recording", o.engine.name)
		case o.engine.module != "":
			return o.wrong("--module is for the wazero engine")
		case o.log != "" && o.engine.name != "node":
			return o.wrong("the engine %s has no files: it cannot write a --log", o.engine.name)
		}
	} else if err := o.engine.check(); err != nil {
		return o.wrong("%v", err)
	}
	if len(rest) > 1 {
		return o.wrong("%d prompts are given; put the prompt in quotes", len(rest))
	}
	if o.recording != "" {
		for _, name := range []string{"base-url", "model", "provider", "system", "tool", "store", "session", "agent", "grant", "options"} {
			if given[name] {
				return o.wrong("--%s and --recording exclude each other: a recording brings its own", name)
			}
		}
		if len(rest) > 0 {
			return o.wrong("a prompt and --recording exclude each other: a recording brings its own")
		}
		return nil
	}
	if err := o.checkAgent(given); err != nil {
		return err
	}
	if o.session != "" && o.store == "" {
		return o.wrong("--session names a conversation in a --store: give one")
	}
	if len(rest) == 1 {
		if rest[0] == "" {
			return o.wrong("the prompt is empty")
		}
		o.prompt = rest[0]
	}
	return o.checkModel()
}

// checkAgent refuses flags that mean nothing to an agent, and those of an agent where there is none.
func (o *runFlags) checkAgent(given map[string]bool) error {
	if o.agent == "" {
		for _, name := range []string{"grant", "options"} {
			if given[name] {
				return o.wrong("--%s is for an agent: give one with --agent", name)
			}
		}
		return nil
	}
	for _, name := range []string{"base-url", "model", "provider", "engine", "module"} {
		if given[name] {
			return o.wrong("--%s and --agent exclude each other: an agent is a module, and its grant names its models", name)
		}
	}
	return nil
}

// set takes a flag's value in place of the environment's, unless it is empty.
func set(to *string) func(string) error {
	return func(s string) error {
		if s == "" {
			return fmt.Errorf("it is empty")
		}
		*to = s
		return nil
	}
}

func (o *runFlags) bound(s string) error {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil || n == math.MaxInt32 {
		return fmt.Errorf("it must be a whole number up to %d", math.MaxInt32-1)
	}
	o.maxIterations = int(n)
	if n == 0 {
		o.maxIterations = turns.Unbounded
	}
	return nil
}

func (o *runFlags) setSeed(s string) error {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return fmt.Errorf("it must be a whole number up to %d", uint32(math.MaxUint32))
	}
	o.seed, o.seeded = uint32(n), true
	return nil
}

// toolName is what endpoints take as a tool's name.
var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func (o *runFlags) addTool(s string) error {
	head, program, found := strings.Cut(s, "=")
	name, description, _ := strings.Cut(head, ":")
	switch {
	case !found || strings.TrimSpace(program) == "":
		return fmt.Errorf("it must be NAME=CMD or NAME:DESCRIPTION=CMD")
	case !toolName.MatchString(name):
		return fmt.Errorf("a tool's name has 1 to 64 letters, digits, _ and -")
	}
	if o.hasTool(name) {
		return fmt.Errorf("there is another tool of that name")
	}
	o.tools = append(o.tools, programTool{name, cmp.Or(description, "Runs the program "+name+"."), program})
	return nil
}

// programs are the tools that the command line names.
func (o *runFlags) programs() []*turns.Tool {
	var list []*turns.Tool
	for _, t := range o.tools {
		list = append(list, t.tool())
	}
	return list
}

func (o *runFlags) hasTool(name string) bool {
	return slices.ContainsFunc(o.tools, func(t programTool) bool { return t.name == name })
}
