package provider

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
)

// Core are the providers of the core module. The full one has [All]; in the place of each that is there alone stands its
// name, so that who asks for it is told where it is.
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
