package model

// Credential is a secret that requests of the core may carry. The core only ever knows its name: the host adds the secret
// to a request on its way out, and takes it out of what comes back.
type Credential struct {
	Header  string   // "authorization" if empty
	Value   string   // of the header
	Origins []string // it is sent to, like "https://api.example.com"
}

// Bearer returns the credential of a bearer token.
func Bearer(token string, origins ...string) Credential {
	return Credential{Value: "Bearer " + token, Origins: origins}
}
