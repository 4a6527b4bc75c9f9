package model

// Stats are what a model call cost, as far as it is known. Durations are in nanoseconds.
type Stats struct {
	PromptTokens         int    `json:"promptTokens,omitempty"`
	CompletionTokens     int    `json:"completionTokens,omitempty"`
	TotalTokens          int    `json:"totalTokens,omitempty"`
	CachedTokens         int    `json:"cachedTokens,omitempty"`    // of the prompt's
	ReasoningTokens      int    `json:"reasoningTokens,omitempty"` // of the completion's
	TotalDurationNs      int64  `json:"totalDurationNs,omitempty"`
	LoadDurationNs       int64  `json:"loadDurationNs,omitempty"`
	PromptEvalDurationNs int64  `json:"promptEvalDurationNs,omitempty"`
	EvalDurationNs       int64  `json:"evalDurationNs,omitempty"`
	FinishReason         string `json:"finishReason,omitempty"`
	Model                string `json:"model,omitempty"`
	Provider             string `json:"provider,omitempty"`
	Raw                  any    `json:"raw,omitempty"` // what the provider said
}
