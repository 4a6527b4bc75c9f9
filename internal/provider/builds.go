package provider

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
)

// All are the providers of this package, which the full module has. The first one serves where none is named.
var All = []chat.Provider{openAI{inAnswers}, anthropic{}, gemini{}, ollama{}, responses{}, model{}}

// Core are the providers of the core module. Of the others it has the names, so that an error says which module to use.
var Core = []chat.Provider{
	openAI{}, elsewhere(anthropicName), elsewhere(geminiName), elsewhere(ollamaName), elsewhere(openAIResponsesName), elsewhere(modelName),
}

// fullModule is the module that has everything.
const fullModule = "turncore-full.wasm"

// elsewhere is the name of a provider that only the full module has.
type elsewhere string

func (e elsewhere) Protocol() chat.Protocol {
	return chat.Protocol{Name: string(e), Elsewhere: fullModule}
}

func (elsewhere) Path(string, bool) string                                { return "" }
func (elsewhere) AppendTool(dst []byte, _ *runtime.Tool, _ []byte) []byte { return dst }
func (elsewhere) AppendHead(dst []byte, _ *chat.Head) []byte              { return dst }
func (elsewhere) AppendUnit(dst []byte, _ *chat.Unit) []byte              { return dst }
func (elsewhere) Read(_ *chat.Answer, _ []byte, s *value.Scanner)         { s.Skip() }
func (elsewhere) Usage([]byte) chat.Usage                                 { return chat.Usage{} }
