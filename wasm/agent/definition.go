package agent

// Definition is an agent.
type Definition struct {
	Name        string // lower case letters, digits and hyphens
	Version     string // such as "1.4.0"
	Description string // one line
	// Options is the JSON Schema of the agent's options, an object; empty if it has none. A runner with other options does
	// not open: E_INVALID_OPTIONS.
	Options string
	// Executor runs once for each iteration. It signals with [Context.Ack] or [Context.Nack], or returns to run again; an
	// error nacks the dispatch. nil means the chat executor with the model "default".
	Executor func(c *Context) error
	Tools    []*Tool
	// Middleware, in the order in which it runs. In the turn's own, [Context.Dispatch] is false.
	TurnInput, TurnOutput, DispatchInput, DispatchOutput []Middleware
	Asks                                                 Asks
}

// Middleware is a function around the rest of its pipeline.
type Middleware struct {
	Name string
	// Run calls next to go on; next returns when everything behind it has ended. Without that, and without a signal, the
	// turn fails. An error fails the pipeline.
	Run func(c *Context, next func()) error
}

// Asks are what an agent needs of its host. Why is for people who decide on it: one line.
type Asks struct {
	HTTP        []Origin
	Credentials []Credential
	Tools       []Ask // of the host
	Models      []Ask // by the agent's names for them; the chat executor needs "default"
	Stores      []Ask // of the host
	Log         int64 // bytes for each turn
	Quota       Quota // what a turn may need; a zero field says nothing
}

// Ask asks for something that has a name.
type Ask struct{ Name, Why string }

// Origin asks for HTTP requests to an origin such as "https://api.example.com".
type Origin struct{ Origin, Why string }

// Credential asks for a secret, which the host adds to requests to an origin: the module does not see it.
type Credential struct{ Name, Origin, Why string }

// Quota is what a turn may need.
type Quota struct{ Steps, Frames, Effects, Bytes, Tokens int64 }

// registered is the module's agent, and said what it says of itself.
var (
	registered *Definition
	said       []byte
)

// Register makes d the module's agent. It is called once, in a function init. It panics if a schema in d is no JSON;
// what else a definition must have, such as names that differ, the command that builds it checks.
func Register(d Definition) {
	if registered != nil {
		panic("agent: Register is called twice")
	}
	registered, said = &d, d.describe()
}

// pipelineNames are those of a manifest, by the pipelines' numbers.
var pipelineNames = [...]string{"turnInput", "turnOutput", "dispatchInput", "dispatchOutput"}

func (d *Definition) pipelines() [4][]Middleware {
	return [4][]Middleware{d.TurnInput, d.TurnOutput, d.DispatchInput, d.DispatchOutput}
}
