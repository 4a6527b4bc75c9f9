package model

// ChatOptions configure the chat executor inside the core, which speaks to models through the host's HTTP.
type ChatOptions struct {
	Model string // required without an Engine
	// Provider is the protocol that the API speaks: OpenAI's chat completions if empty.
	Provider Provider
	// BaseURL of the API, up to the version: that of the Provider by default.
	BaseURL string
	// Credential is the name of one of the host's credentials; "" sends none.
	Credential string
	// Engine is a model that the host runs itself, in place of an API: BaseURL and Credential are not for it, and Model is
	// the engine's name if empty.
	Engine *Engine
	// Schema is a JSON Schema, draft 2020-12, that answers must match: JSON text, or anything that marshals to it. nil for
	// answers of any text. The core checks them; Object gives what they hold.
	Schema any
	// Options are further options of the executor, and members of the request such as "temperature", by the names that the
	// provider's API has for them. [OpenAIOptions] and the others have them typed.
	Options map[string]any
}
