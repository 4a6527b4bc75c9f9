package turns

// Provider is a protocol that models are spoken to with. A module without it refuses it with E_CHAT_INVALID_OPTIONS, which
// says where it is: the core module has OpenAI's chat completions only.
type Provider string

// Providers.
const (
	ProviderOpenAI          Provider = "openai"           // OpenAI's chat completions, which many others speak
	ProviderOpenAIResponses Provider = "openai-responses" // OpenAI's Responses API
	ProviderAnthropic       Provider = "anthropic"        // Anthropic's Messages API
	ProviderGemini          Provider = "gemini"           // generateContent of Google's Gemini API
	ProviderOllama          Provider = "ollama"           // Ollama's chat API
)

// Providers are all that the full module knows, beside a [ModelEngine]. The first one serves where none is named.
func Providers() []Provider {
	return []Provider{ProviderOpenAI, ProviderOpenAIResponses, ProviderAnthropic, ProviderGemini, ProviderOllama}
}

// BaseURL is where the provider's own API is, up to the version; "" for an unknown provider.
func (p Provider) BaseURL() string {
	switch p {
	case "", ProviderOpenAI, ProviderOpenAIResponses:
		return "https://api.openai.com/v1"
	case ProviderAnthropic:
		return "https://api.anthropic.com/v1"
	case ProviderGemini:
		return "https://generativelanguage.googleapis.com/v1beta"
	case ProviderOllama:
		return "http://localhost:11434"
	}
	return ""
}

// Key returns the credential of an API key, in the header where the provider's API wants it.
func (p Provider) Key(key string, origins ...string) Credential {
	switch p {
	case ProviderAnthropic:
		return Credential{Header: "x-api-key", Value: key, Origins: origins}
	case ProviderGemini:
		return Credential{Header: "x-goog-api-key", Value: key, Origins: origins}
	}
	return Bearer(key, origins...)
}
