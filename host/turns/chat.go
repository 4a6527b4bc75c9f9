package turns

import (
	"maps"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/wire"
)

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
	Engine *ModelEngine
	// Schema is a JSON Schema, draft 2020-12, that answers must match: JSON text, or anything that marshals to it. nil for
	// answers of any text. The core checks them; Object gives what they hold.
	Schema any
	// Options are further options of the executor, and members of the request such as "temperature", by the names that the
	// provider's API has for them. [OpenAIOptions] and the others have them typed.
	Options map[string]any
}

// encode returns the options as one value. What is wrong with them the core finds out.
func (o *ChatOptions) encode() (abi.Raw, error) {
	all := make(map[string]any, len(o.Options)+6)
	maps.Copy(all, o.Options)
	for name, text := range map[string]string{
		"provider": string(o.Provider), "model": o.model(), "baseURL": o.BaseURL, "credential": o.Credential,
	} {
		if text != "" {
			all[name] = text
		}
	}
	if o.Engine != nil {
		if o.Engine.Generate == nil {
			return nil, newError(abi.CodeChatInvalidOptions, abi.Violation(string(abi.KindFunction), "field", "engine.generate"), nil)
		}
		all["provider"], all["capabilities"] = "model", optionMap(o.Engine.Capabilities)
	}
	if o.Schema != nil {
		all["schema"] = schemaValue(o.Schema)
	}
	raw, err := wire.Append(nil, all, "chat")
	if err != nil {
		return nil, newError(abi.CodeChatInvalidOptions, err.Error(), err)
	}
	return raw, nil
}

// model is the name that the core has for the model.
func (o *ChatOptions) model() string {
	if o.Model == "" && o.Engine != nil {
		return o.Engine.name()
	}
	return o.Model
}

// baseURL is where the executor's requests go, "" for where only the core knows: the API of a provider that is built into
// it alone.
func (o *ChatOptions) baseURL() string {
	named := func(field, name string) string {
		if text, ok := o.Options[name].(string); ok && field == "" {
			return text
		}
		return field
	}
	if base := named(o.BaseURL, "baseURL"); base != "" {
		return base
	}
	provider := Provider(named(string(o.Provider), "provider"))
	if provider == "" {
		provider = ProviderOpenAI
	}
	return provider.BaseURL()
}
