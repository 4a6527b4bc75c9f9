package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/turncore/turncore/host/agents"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/simulated"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// storeName is the name by which agents ask for the store of --store.
const storeName = "conversations"

// load opens a session with an agent. It gets of the command's tools, models and stores what its grant names.
func (c *command) load(ctx context.Context, s *session, config turns.Config, host turns.HostOptions) error {
	file, err := readAgent(s.flags.agent)
	if err != nil {
		return err
	}
	var grant *agents.Grant
	if s.flags.grant != "" {
		if grant, err = readGrant(s.flags.grant); err != nil {
			return err
		}
	}
	agent, err := agents.Load(ctx, file, agents.Options{
		Grant: grant, Host: host, Options: s.flags.options,
		Tools:  append(builtinTools(host.Clock), s.flags.programs()...),
		Stores: map[string]store.Store{storeName: config.Store},
		Model:  c.grantedModel,
	})
	if err != nil {
		return err
	}
	s.close = append(s.close, func() { _ = agent.Close(context.Background()) }) // the program ends
	if s.flags.verbose {
		m := agent.Manifest()
		s.screen.note(s.screen.dim, "agent %s %s, with Turncore %s", m.Name, m.Version, m.Turncore)
	}
	own := agent.Config()
	own.MaxIterations, own.TurnInputPipeline = config.MaxIterations, append(config.TurnInputPipeline, own.TurnInputPipeline...)
	if own.Store == nil {
		own.Store = config.Store
	}
	s.runner, err = turns.New(ctx, own)
	return err
}

// grantedModel is a model that a grant names, at the address and with the key that the environment has for its
// provider.
func (c *command) grantedModel(provider, name string) (turns.Model, error) {
	if provider == simulated.Model {
		return turns.Model{Name: name, Engine: simulated.Engine()}, nil
	}
	p := model.Provider(provider)
	if !slices.Contains(model.Providers(), p) {
		return turns.Model{}, fmt.Errorf("there is no provider %s, only %s and %s", provider, simulated.Model, providerNames())
	}
	names := variablesOf[p]
	m := turns.Model{Name: name, Provider: p, BaseURL: cmp.Or(names.address(p, c.getenv), p.BaseURL())}
	if names.key != "" {
		m.APIKey = c.getenv(names.key)
		if m.APIKey == "" && m.BaseURL == p.BaseURL() {
			return turns.Model{}, fmt.Errorf("it needs a key: set %s", names.key)
		}
	}
	return m, nil
}
