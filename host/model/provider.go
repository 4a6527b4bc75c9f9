package model

// Provider is a protocol of models. A module without it fails with E_CHAT_INVALID_OPTIONS, which names the module
// that has it: the core module has OpenAI's chat completions only.
type Provider string

// providerAPI is what a host knows of a provider's API.
type providerAPI struct {
	name    Provider
	baseURL string
	header  string // that a key goes into
	prefix  string // of the key in it
}

// api is the provider's API; the first one where none is named, nil for an unknown provider.
func (p Provider) api() *providerAPI {
	for i := range providerAPIs {
		if api := &providerAPIs[i]; p == api.name || p == "" {
			return api
		}
	}
	return nil
}

// Providers are all providers of the full module, besides an [Engine]. The first one is the default.
func Providers() (names []Provider) {
	for _, api := range providerAPIs {
		names = append(names, api.name)
	}
	return names
}

// BaseURL is the address of the provider's own API, up to the version; "" for an unknown provider.
func (p Provider) BaseURL() string {
	if api := p.api(); api != nil {
		return api.baseURL
	}
	return ""
}

// Key returns the credential of an API key, in the header that the provider's API expects. An unknown provider uses
// the header of the first one.
func (p Provider) Key(key string, origins ...string) Credential {
	api := p.api()
	if api == nil {
		api = &providerAPIs[0]
	}
	return Credential{Header: api.header, Value: api.prefix + key, Origins: origins}
}
