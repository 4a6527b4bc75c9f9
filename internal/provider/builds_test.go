package provider_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/fault"
)

func names(list []chat.Provider) (names []string) {
	for _, p := range list {
		names = append(names, p.Protocol().Name)
	}
	return names
}

// isEngine tells whether a provider is that of the engines that a host runs itself.
func isEngine(p chat.Provider) bool { return p.Protocol().Local != nil }

// engine is the provider of engines.
var engine = provider.All[slices.IndexFunc(provider.All, isEngine)]

// overHTTP are the other providers, which speak to APIs.
func overHTTP() []chat.Provider { return slices.DeleteFunc(slices.Clone(provider.All), isEngine) }

// Both builds know the names of all providers, and one has them.
func TestBuilds(t *testing.T) {
	core, all := names(provider.Core), names(provider.All)
	if core[0] != all[0] || all[0] != "openai" {
		t.Errorf("the first are %s and %s", core[0], all[0])
	}
	slices.Sort(core)
	slices.Sort(all)
	if !slices.Equal(core, all) || len(slices.Compact(all)) != len(provider.All) {
		t.Errorf("the core module knows %q, the full one %q", core, all)
	}
	for _, p := range provider.All {
		if protocol := p.Protocol(); protocol.Elsewhere != "" || (protocol.BaseURL == "") != (protocol.Local != nil) || protocol.Close == "" {
			t.Errorf("%+v", protocol)
		}
	}
}

func TestProviderOfAnotherModule(t *testing.T) {
	options := func(text string) []byte {
		v, err := value.FromJSON(nil, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, p := range provider.Core[1:] {
		name := p.Protocol().Name
		_, err := chat.New(options(`{"model":"m","provider":"`+name+`","max_tokens":1,"unknown":1}`), provider.Core...)
		if want := "`provider` " + name + " is not in this module, but in turncore-full.wasm"; !errors.Is(err, fault.ChatInvalidOptions) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	_, err := chat.New(options(`{"model":"m","provider":"nobody"}`), provider.Core...)
	if err == nil || !strings.Contains(err.Error(), "`provider` must be one of openai, anthropic (turncore-full.wasm)") {
		t.Error(err)
	}
	if _, err := chat.New(options(`{"model":"m","provider":"openai"}`), provider.Core...); err != nil {
		t.Error(err)
	}
}
