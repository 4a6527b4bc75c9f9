package main

import (
	"net/url"
	"strings"

	"github.com/turncore/turncore/host/model"
)

// variables are the environment variables with a provider's address, model and key. An empty name means that there is
// none.
type variables struct {
	baseURL string
	version string // that the value of baseURL lacks, as the provider's own programs have it
	host    string // instead of baseURL: a host, with or without a port
	model   string
	key     string
}

// address is where the environment says that the provider is; "" if it does not say.
func (v variables) address(p model.Provider, getenv func(string) string) string {
	if v.host != "" {
		return hostAddress(p, getenv(v.host))
	}
	address := getenv(v.baseURL)
	if v.version == "" {
		return address
	}
	if address = strings.TrimRight(address, "/"); address == "" {
		return ""
	}
	return strings.TrimSuffix(address, v.version) + v.version
}

// hostAddress is the address of what a variable names: a host, with or without a port, or an address.
func hostAddress(p model.Provider, host string) string {
	host = strings.TrimRight(strings.TrimSpace(host), "/")
	if host == "" || strings.Contains(host, "://") {
		return host
	}
	name, port, found := strings.Cut(host, ":")
	if !found {
		if own, err := url.Parse(p.BaseURL()); err == nil {
			port = own.Port()
		}
	}
	if name == "" || name == "0.0.0.0" { // where a server listens: everywhere
		name = "127.0.0.1"
	}
	return "http://" + name + ":" + port
}

// setting is the variable with an address, as the provider's programs expect it.
func (v variables) setting(address url.URL) string {
	if v.host == "" && v.version == "" {
		return v.baseURL + "=" + address.String()
	}
	origin := url.URL{Scheme: address.Scheme, Host: address.Host}
	return v.baseURL + v.host + "=" + origin.String()
}
