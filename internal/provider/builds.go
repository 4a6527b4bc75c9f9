package provider

import "github.com/turncore/turncore/runtime/chat"

// All are the providers of this package, which the full module has. The first one serves where none is named.
var All = []chat.Provider{openAI{inAnswers}, anthropic{}, gemini{}, ollama{}, responses{}, model{}}

// Core are the providers of the core module. Of the others it has the names, so that an error says which module to use.
var Core = []chat.Provider{
	openAI{},
	elsewhere{name: anthropicName},
	elsewhere{name: geminiName},
	elsewhere{name: ollamaName},
	elsewhere{name: openAIResponsesName},
	elsewhere{name: modelName},
}

// fullModule is the module that has everything.
const fullModule = "turncore-full.wasm"

// elsewhere stands for a provider that only the full module has. Nobody asks it for more than its protocol.
type elsewhere struct {
	chat.Provider
	name string
}

func (e elsewhere) Protocol() chat.Protocol {
	return chat.Protocol{Name: e.name, Elsewhere: fullModule}
}
