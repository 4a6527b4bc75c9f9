// Package tools has tools for models whose handlers are compiled into the core: the time, arithmetic, memories, search
// in documents and artifacts, and pages of the web.
//
//	config.Tools = append(tools.Memory(), tools.Calculator())
//
// Their arguments are validated, and their calls and results recorded, like those of other tools. Wrappers of tools do
// not run around them, as no handler runs in the host.
package tools

import (
	"github.com/turncore/turncore/abi/catalogue"
	"github.com/turncore/turncore/host/internal/builtin"
	"github.com/turncore/turncore/host/turns"
)

// Time tells the model the date and the time of the host's clock, as "2024-02-29T13:05:09+02:00, Thursday". It takes
// an offset from UTC; the core does not know names of time zones.
func Time() *turns.Tool { return tool("time", true) }

// Calculator calculates arithmetic expressions for the model: numbers (64-bit floating point), + - * / % ^,
// parentheses up to 100 levels, and the functions abs, ceil, floor, max, min, round and sqrt. An invalid expression
// fails with E_TOOL_CALCULATION, which names the character.
func Calculator() *turns.Tool { return tool("calculator", true) }

// Memory lets the model keep memories: remember stores one, recall searches and lists them, forget deletes one. These
// are ordinary writes of the iteration and go through the storage callbacks.
func Memory() []*turns.Tool {
	return []*turns.Tool{tool("remember", false), tool("recall", false), tool("forget", false)}
}

// Retrievables lets the model search the retrieved documents of the turn, spooled or not, for lines that contain all
// given words.
func Retrievables() *turns.Tool { return tool("search_retrievables", false) }

// Artifacts lets the model search all artifacts of the turn, results of tool calls and spooled documents, for lines
// that contain all given words.
func Artifacts() *turns.Tool { return tool("search_artifacts", false) }

// tool is a tool of the catalogue. One that only says what the host or arithmetic says is trusted.
func tool(name string, trusted bool) *turns.Tool {
	entry := catalogue.Tools[name]
	return builtin.NewTool(&builtin.Tool{
		Name: name, Description: entry.Description, InputSchema: entry.InputSchema, Trusted: trusted,
	}).(*turns.Tool)
}
