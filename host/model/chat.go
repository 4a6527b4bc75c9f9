package model

// ChatOptions configure the chat executor inside the core, which calls models through the host's HTTP.
type ChatOptions struct {
	Model string // required without an Engine
	// Provider is the protocol of the API: OpenAI's chat completions if empty.
	Provider Provider
	// BaseURL of the API, up to the version: that of the Provider by default.
	BaseURL string
	// Credential is the name of one of the host's credentials; "" sends none.
	Credential string
	// Engine is a model that the host runs itself, instead of an API: it has no BaseURL and no Credential, and Model
	// defaults to the engine's name.
	Engine *Engine
	// Schema is a JSON Schema, draft 2020-12, that answers must match: JSON text, or anything that marshals to it. nil
	// for free text. The core checks the answers; Object returns their data.
	Schema any
	// Options are further options of the executor, and members of the request such as "temperature", by the names that the
	// provider's API has for them. [OpenAIOptions] and the others have them typed.
	Options map[string]any
}
