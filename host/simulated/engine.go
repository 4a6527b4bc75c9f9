package simulated

import (
	"context"
	"encoding/json"

	"github.com/turncore/turncore/host/model"
)

// Engine returns a model that answers by the rules of this package, without HTTP.
func Engine() *model.Engine {
	return &model.Engine{
		Name: Model, Capabilities: model.Capabilities{Tools: "native"},
		Generate: func(_ context.Context, r *model.Request, send func(model.Part) error) error {
			text, err := json.Marshal(r)
			if err != nil {
				return err
			}
			var req request
			if err := json.Unmarshal(text, &req); err != nil {
				return err
			}
			for _, part := range answerTo(&req).parts(&req) {
				if err := send(part); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// parts are those of an engine's answer.
func (a answer) parts(r *request) (parts []model.Part) {
	for _, word := range words(a.thought) {
		parts = append(parts, model.Part{Reasoning: word})
	}
	for _, word := range words(a.text) {
		parts = append(parts, model.Part{Text: word})
	}
	end := model.Part{Finish: "stop"}
	if a.tool != "" {
		parts = append(parts, model.Part{ToolCall: &model.ToolCall{ID: a.callID(r), Name: a.tool, Arguments: a.args}})
		end.Finish = "tool_calls"
	}
	prompt, completion := a.tokens(r)
	end.Usage = &model.Usage{PromptTokens: prompt, CompletionTokens: completion, TotalTokens: prompt + completion}
	return append(parts, end)
}
