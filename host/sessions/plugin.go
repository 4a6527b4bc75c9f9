package sessions

import "github.com/turncore/turncore/abi"

// Plugin is called in all invocations of a runner, for every agent, before the agents' own callbacks. Its functions may
// be nil. The first plugin that gives something decides, as with callbacks.
type Plugin struct {
	Name string

	// OnUserMessage may replace the user's message before it is stored.
	OnUserMessage func(ctx *CallbackContext, message *Content) (*Content, error)
	// BeforeRun may answer in the agents' place.
	BeforeRun func(ctx *CallbackContext) (*Content, error)
	// AfterRun is called once at the end of each invocation, also of one that failed or that its caller has stopped.
	AfterRun func(ctx *CallbackContext) error
	// OnEvent may replace an event before it is stored and delivered. The author and partial stay.
	OnEvent func(ctx *CallbackContext, e *Event) (*Event, error)

	BeforeAgent AgentCallback
	AfterAgent  AgentCallback
	BeforeModel BeforeModelCallback
	AfterModel  AfterModelCallback
	ModelError  ModelErrorCallback
	BeforeTool  BeforeToolCallback
	AfterTool   AfterToolCallback
	ToolError   ToolErrorCallback
}

// hooks are the bits of the functions that a plugin has.
func (p *Plugin) hooks() (bits uint32) {
	for hook, there := range map[uint8]bool{
		abi.HookUserMessage: p.OnUserMessage != nil, abi.HookBeforeRun: p.BeforeRun != nil, abi.HookAfterRun: p.AfterRun != nil,
		abi.HookEvent: p.OnEvent != nil, abi.HookBeforeAgent: p.BeforeAgent != nil, abi.HookAfterAgent: p.AfterAgent != nil,
		abi.HookBeforeModel: p.BeforeModel != nil, abi.HookAfterModel: p.AfterModel != nil, abi.HookModelError: p.ModelError != nil,
		abi.HookBeforeTool: p.BeforeTool != nil, abi.HookAfterTool: p.AfterTool != nil, abi.HookToolError: p.ToolError != nil,
	} {
		if there {
			bits |= 1 << hook
		}
	}
	return bits
}
