package model

// Provider is a protocol that models are spoken to with. A module without it refuses it with E_CHAT_INVALID_OPTIONS, which
// says where it is: the core module has OpenAI's chat completions only.
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

// Providers are all that the full module knows, beside a [Engine]. The first one serves where none is named.
func Providers() (names []Provider) {
	for _, api := range providerAPIs {
		names = append(names, api.name)
	}
	return names
}

// BaseURL is where the provider's own API is, up to the version; "" for an unknown provider.
func (p Provider) BaseURL() string {
	if api := p.api(); api != nil {
		return api.baseURL
	}
	return ""
}

// Key returns the credential of an API key, in the header where the provider's API wants it. An unknown provider's goes
// where that of the first one does.
func (p Provider) Key(key string, origins ...string) Credential {
	api := p.api()
	if api == nil {
		api = &providerAPIs[0]
	}
	return Credential{Header: api.header, Value: api.prefix + key, Origins: origins}
}
