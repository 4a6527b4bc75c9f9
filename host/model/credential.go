package model

// Credential is a secret for requests of the core. The core knows only its name: the host adds the secret to outgoing
// requests and removes it from everything that comes back.
type Credential struct {
	Header  string   // "authorization" if empty
	Value   string   // of the header
	Origins []string // it is sent to, like "https://api.example.com"
}

// Bearer returns the credential of a bearer token.
func Bearer(token string, origins ...string) Credential {
	return Credential{Value: "Bearer " + token, Origins: origins}
}
