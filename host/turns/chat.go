package turns

import (
	"cmp"
	"maps"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/wire"
	"github.com/turncore/turncore/host/model"
)

// encodeChat returns the options as one value. What is wrong with them the core finds out.
func encodeChat(o *model.ChatOptions) (abi.Raw, error) {
	all := make(map[string]any, len(o.Options)+6)
	maps.Copy(all, o.Options)
	for _, f := range [...]struct{ name, text string }{
		{"provider", string(o.Provider)}, {"model", modelName(o)}, {"baseURL", o.BaseURL}, {"credential", o.Credential},
	} {
		if f.text == "" {
			continue
		}
		if given, twice := all[f.name]; twice && given != any(f.text) {
			return nil, givenTwice(f.name)
		}
		all[f.name] = f.text
	}
	if o.Engine != nil {
		if p, there := all["provider"]; there && p != any("model") {
			return nil, newError(abi.CodeChatInvalidOptions, "`provider` cannot be given beside an engine, which has its own", nil)
		}
		if o.Engine.Generate == nil {
			return nil, newError(abi.CodeChatInvalidOptions, abi.Violation(string(abi.KindFunction), "field", "engine.generate"), nil)
		}
		all["provider"], all["capabilities"] = "model", o.Engine.Capabilities.Map()
	}
	if o.Schema != nil {
		if all["schema"] != nil {
			return nil, givenTwice("schema")
		}
		all["schema"] = schemaValue(o.Schema)
	}
	raw, err := wire.Append(nil, all, "chat")
	if err != nil {
		return nil, newError(abi.CodeChatInvalidOptions, err.Error(), err)
	}
	return raw, nil
}

// givenTwice is the error of an option that is a field of its own, too.
func givenTwice(name string) error {
	return newError(abi.CodeChatInvalidOptions, abi.Violation(abi.RuleExactlyOne, "field", name, "other", "options."+name), nil)
}

// modelName is the name that the core has for the model.
func modelName(o *model.ChatOptions) string {
	if o.Model == "" && o.Engine != nil {
		return cmp.Or(o.Engine.Name, "engine")
	}
	return o.Model
}

// chatURL is where the executor's requests go, "" for where only the core knows: the API of a provider that is built
// into it alone.
func chatURL(o *model.ChatOptions) string {
	if base := named(o, o.BaseURL, "baseURL"); base != "" {
		return base
	}
	return providerOf(o).BaseURL()
}

// providerOf is whose protocol the executor speaks.
func providerOf(o *model.ChatOptions) model.Provider {
	return cmp.Or(model.Provider(named(o, string(o.Provider), "provider")), model.OpenAI)
}

// named is a field, or if that is empty the option of a name.
func named(o *model.ChatOptions, field, name string) string {
	if text, ok := o.Options[name].(string); ok && field == "" {
		return text
	}
	return field
}
