// Command moderation is an agent that chats, but not about certain things: middleware looks at what users say before
// the model sees it, and at what the model says before it is stored.
//
//	turncore agent build examples/agents/moderation
//	turncore run --agent moderation.wasm --grant examples/agents/moderation/grant.json "Tell me about dragons"
package main

import (
	"errors"
	"strings"

	"github.com/turncore/turncore/wasm/agent"
)

//go:generate go run github.com/turncore/turncore/host/cmd/toolgen -type Options

// Options are the agent's options.
type Options struct {
	Blocked []string `json:"blocked,omitempty" jsonschema:"words that nobody may use, in small letters"`
}

// refusal is the answer to what users may not say.
const refusal = "I cannot talk about that."

var errBlocked = errors.New("the model's answer has a word that is blocked")

func init() {
	agent.Register(agent.Definition{
		Name: "moderation", Version: "1.0.0", Description: "Chats, but not about everything.",
		Options:        (*Options)(nil).Schema(),
		DispatchInput:  []agent.Middleware{{Name: "input", Run: input}},
		DispatchOutput: []agent.Middleware{{Name: "output", Run: output}},
		Asks: agent.Asks{
			Models: []agent.Ask{{Name: "default", Why: "to answer"}},
			Log:    4096,
		},
	})
}

// input answers in the model's place if the user has said something that is blocked.
func input(c *agent.Context, next func()) error {
	last, blocked, err := blockedBy(c, agent.User)
	if err != nil {
		return err
	}
	if !blocked || c.Iteration() > 0 {
		next()
		return nil
	}
	_ = c.Log(agent.Warn, "moderation.input", "The message "+last+" is blocked.", nil)
	id, err := c.StoreMessage(agent.Message{Role: agent.Assistant, Content: refusal})
	if err != nil {
		return err
	}
	if err := c.Report(id, refusal, true); err != nil {
		return err
	}
	return c.Ack()
}

// output drops an iteration whose answer is blocked.
func output(c *agent.Context, next func()) error {
	last, blocked, err := blockedBy(c, agent.Assistant)
	if err != nil {
		return err
	}
	if blocked {
		_ = c.Log(agent.Warn, "moderation.output", "The message "+last+" is blocked.", nil)
		return errBlocked
	}
	next()
	return nil
}

// blockedBy reports whether the last message of a role has a word that is blocked, and the message's id.
func blockedBy(c *agent.Context, role string) (id string, blocked bool, err error) {
	var o Options
	if err := c.Options(&o); err != nil {
		return "", false, err
	}
	var last agent.Message
	for m := range c.Messages() {
		if m.Role == role {
			last = m
		}
	}
	text := strings.ToLower(last.Content)
	for _, word := range o.Blocked {
		if strings.Contains(text, word) {
			return last.ID, true, nil
		}
	}
	return "", false, nil
}

func main() {}
