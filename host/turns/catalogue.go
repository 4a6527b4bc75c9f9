package turns

import "github.com/turncore/turncore/abi/catalogue"

// TimeTool tells the model the date and the time of the host's clock, as "2024-02-29T13:05:09+02:00, Thursday". It takes
// an offset from UTC; names of time zones are not known to the core.
func TimeTool() *Tool { return catalogueTool("time", true) }

// CalculatorTool calculates arithmetic expressions for the model: numbers (64-bit floating point), + - * / % ^,
// parentheses up to 100 levels, and the functions abs, ceil, floor, max, min, round and sqrt. An expression that cannot
// be calculated fails with E_TOOL_CALCULATION, which says at which character.
func CalculatorTool() *Tool { return catalogueTool("calculator", true) }

// MemoryTools let the model keep memories: remember stores one, recall searches and lists them, forget deletes one. They
// are writes of the iteration like any other, and go through the storage callbacks.
func MemoryTools() []*Tool {
	return []*Tool{catalogueTool("remember", false), catalogueTool("recall", false), catalogueTool("forget", false)}
}

// RetrievablesTool lets the model search the retrieved documents of the turn for lines in which all given words occur,
// also those whose text is spooled.
func RetrievablesTool() *Tool { return catalogueTool("search_retrievables", false) }

// ArtifactsTool lets the model search all artifacts of the turn, results of tool calls and spooled documents, for lines
// in which all given words occur.
func ArtifactsTool() *Tool { return catalogueTool("search_artifacts", false) }

// catalogueTool is a tool whose handler is compiled into the core, under the tool's name. One that only says what the
// host or arithmetic says is trusted.
func catalogueTool(name string, trusted bool) *Tool {
	entry := catalogue.Tools[name]
	t := &Tool{Name: name, Description: entry.Description, InputSchema: entry.InputSchema, Trusted: trusted, builtin: name}
	t.Handler = func(ctx *DispatchContext, args Args) (any, error) { return ctx.executeTool(t, args) }
	return t
}
