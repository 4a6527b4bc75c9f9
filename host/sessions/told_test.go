package sessions_test

import (
	"errors"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/sessions"
)

// Callbacks for errors get those of host code as they are, and those of the core with their codes.
func TestCallbacksGetErrors(t *testing.T) {
	own := errors.New("the model is away")
	for _, engine := range hosttest.Engines(t) {
		var told error
		callbacks := []sessions.ModelErrorCallback{func(_ *sessions.CallbackContext, err error) (*sessions.Response, error) {
			told = err
			return &sessions.Response{Content: sessions.ModelText("later")}, nil
		}}
		config := func(agent *sessions.LLMAgent) sessions.Config {
			agent.Name, agent.ModelError = "a", callbacks
			return sessions.Config{Engine: engine, Agent: agent}
		}
		t.Run(engine.Name(), func(t *testing.T) {
			p := stage(t, config(&sessions.LLMAgent{
				Executor: func(*sessions.ModelContext, func(*sessions.Response) error) error { return own },
			}))
			p.is("answer", shown(p.say("hello")...), "a:later")
			if told != own {
				t.Errorf("the callback got %v of the executor", told)
			}
			p = stage(t, config(&sessions.LLMAgent{
				Instruction: "{missing}", Chat: &model.ChatOptions{Model: "m", BaseURL: "http://127.0.0.1:1"},
			}))
			p.is("answer", shown(p.say("hello")...), "a:later")
			if !errors.Is(told, host.CodeInvalidState) {
				t.Errorf("the callback got %v of the core", told)
			}
		})
		t.Run(engine.Name()+"/compaction", func(t *testing.T) {
			c := &sessions.Compaction{Invocations: 1, OnError: func(_ *sessions.CallbackContext, err error) { told = err }}
			agent := script(says("hi"), says("hi")).agent("a")
			p := stage(t, sessions.Config{Engine: engine, Agent: agent, Compaction: c, MaxModelCalls: 1})
			p.say("hello")
			if !errors.Is(told, host.CodeModelCallLimit) {
				t.Errorf("OnError got %v of the core", told)
			}
			c.Summarize = func(*sessions.CallbackContext, *sessions.Content) (*sessions.Content, error) { return nil, own }
			p = stage(t, sessions.Config{Engine: engine, Agent: script(says("hi")).agent("a"), Compaction: c})
			p.say("hello")
			if told != own {
				t.Errorf("OnError got %v of Summarize", told)
			}
		})
	}
}
