package turns

import (
	"maps"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/value"
)

// ChatOptions configure the chat executor inside the core, which speaks OpenAI-compatible chat completions through the
// host's HTTP.
type ChatOptions struct {
	Model string // required
	// BaseURL of the API, up to the version: "https://api.openai.com/v1" by default.
	BaseURL string
	// Credential is the name of one of the host's credentials; "" sends none.
	Credential string
	// Options are further options of the executor, and members of the request such as "temperature".
	Options map[string]any
}

// encode returns the options as one value. What is wrong with them the core finds out.
func (o *ChatOptions) encode() (abi.Raw, error) {
	all := make(map[string]any, len(o.Options)+3)
	maps.Copy(all, o.Options)
	for name, text := range map[string]string{"model": o.Model, "baseURL": o.BaseURL, "credential": o.Credential} {
		if text != "" {
			all[name] = text
		}
	}
	raw, err := value.Append(nil, all, "chat")
	if err != nil {
		return nil, newError(abi.CodeChatInvalidOptions, err.Error(), err)
	}
	return raw, nil
}
