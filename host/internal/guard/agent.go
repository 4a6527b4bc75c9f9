package guard

import (
	"encoding/json"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/model"
)

// Agent is what an agent's module brings to the runners of its host. A runner that has an executor or a model of its
// own gets none of it.
type Agent struct {
	// Outside says that the module has no agent inside: a runner has an executor of the program's own, or Chat.
	Outside bool
	// Chat is the first model that the manifest asks for, nil if the grant names none.
	Chat *model.ChatOptions

	Tools []Tool
	// Middleware has the names for each pipeline: turn input and output, dispatch input and output. They run behind the
	// program's own.
	Middleware [4][]string
	// Models are those that the grant names, by the agent's names for them.
	Models map[string]*model.ChatOptions
	// Asked returns the one of them that a request asks for an answer, nil for none. Engines get no requests.
	Asked func(args *abi.HTTPArgs) *model.ChatOptions
	// Options are the agent's own, a JSON text; nil for none.
	Options json.RawMessage
}

// Tool is a tool that an agent brings.
type Tool struct {
	Name, Description string
	InputSchema       json.RawMessage
}
