package turns

import (
	"reflect"
	"time"
)

// RetryOptions say which failed requests are made again, and when. What is nil has its default.
type RetryOptions struct {
	MaxAttempts     *int           `option:"maxAttempts"`     // requests in all, 3 by default
	BaseDelay       *time.Duration `option:"baseDelayMs"`     // before the second request; it doubles. Half a second by default
	MaxDelay        *time.Duration `option:"maxDelayMs"`      // 30 seconds by default
	Statuses        []int          `option:"statuses"`        // 429, 500, 502, 503, 504 and 529 by default
	HonorRetryAfter *bool          `option:"honorRetryAfter"` // true by default
}

// CommonOptions are options of models of any provider. What is nil or empty has its default.
type CommonOptions struct {
	Parallel            *int                      `option:"parallel"`            // calls of an answer that run at once, from 1 to 64; 1 by default
	ToolTimeout         *time.Duration            `option:"toolTimeoutMs"`       // of a call; 0, the default, for none
	SpoolResultsOver    *int                      `option:"spoolResultsOver"`    // bytes of a result that becomes an artifact; 0 for none, 32768 by default
	Headers             map[string]string         `option:"headers"`             // beside, or instead of, the executor's own
	Stream              *bool                     `option:"stream"`              // true by default
	Retry               *RetryOptions             `option:"retry"`               // which failed requests are made again
	RequestTimeout      *time.Duration            `option:"requestTimeoutMs"`    // until the response begins; 0 for none, 10 minutes by default
	IdleTimeout         *time.Duration            `option:"idleTimeoutMs"`       // between two pieces of it; 0 for none, a minute by default
	TotalTimeout        *time.Duration            `option:"totalTimeoutMs"`      // of an answer with all its requests; 0, the default, for none
	Trust               string                    `option:"trust"`               // "marks", the default, or "off"
	Media               []MediaKind               `option:"media"`               // kinds that are sent; all that the provider takes by default
	MaxMediaBytes       *int                      `option:"maxMediaBytes"`       // 20971520 by default
	UnsupportedMedia    string                    `option:"unsupportedMedia"`    // "text", the default, or "error"
	ThoughtSurfacing    string                    `option:"thoughtSurfacing"`    // "all-self", the default, "latest-self" or "all"
	ReplayCompatibility []string                  `option:"replayCompatibility"` // tags of thoughts that go back too
	BucketOrder         []string                  `option:"bucketOrder"`         // of what follows the system prompt
	ToolExtras          map[string]map[string]any `option:"toolExtras"`          // members for the definitions of tools, by a tool's name
	SchemaMode          string                    `option:"schemaMode"`          // "native", the default, "prompt" or "both"
	Body                map[string]any            `option:"body"`                // further members of the request, as they are
}

// OpenAIOptions are options of models of OpenAI's chat completions, and of who else speaks them.
// Members of requests have the names that the API has for them.
type OpenAIOptions struct {
	CommonOptions
	IncludeUsage         *bool          `option:"includeUsage"`    // true by default
	ReasoningFields      []string       `option:"reasoningFields"` // of deltas; "reasoning" and "reasoning_content" by default
	ToolFormat           string         `option:"toolFormat"`      // how calls stand in the text; "off" by default
	ToolDelivery         string         `option:"toolDelivery"`    // "native", the default, or "prompt"
	ReasoningFormat      string         `option:"reasoningFormat"` // how reasoning stands in the text; "leading" by default
	ReasoningOpened      *bool          `option:"reasoningOpened"` // answers begin inside of reasoning
	Thoughts             string         `option:"thoughts"`        // "off", the default, "text" or "reasoning_content"
	FrequencyPenalty     *float64       `option:"frequency_penalty"`
	LogitBias            map[string]any `option:"logit_bias"`
	Logprobs             *bool          `option:"logprobs"`
	MaxCompletionTokens  *int           `option:"max_completion_tokens"`
	MaxTokens            *int           `option:"max_tokens"`
	Metadata             map[string]any `option:"metadata"`
	N                    *int           `option:"n"`
	ParallelToolCalls    *bool          `option:"parallel_tool_calls"`
	Prediction           map[string]any `option:"prediction"`
	PresencePenalty      *float64       `option:"presence_penalty"`
	PromptCacheKey       string         `option:"prompt_cache_key"`
	PromptCacheRetention string         `option:"prompt_cache_retention"`
	Reasoning            map[string]any `option:"reasoning"`
	ReasoningEffort      string         `option:"reasoning_effort"`
	ResponseFormat       map[string]any `option:"response_format"`
	SafetyIdentifier     string         `option:"safety_identifier"`
	Seed                 *int           `option:"seed"`
	ServiceTier          string         `option:"service_tier"`
	Stop                 any            `option:"stop"`
	Store                *bool          `option:"store"`
	StreamOptions        map[string]any `option:"stream_options"`
	Temperature          *float64       `option:"temperature"`
	ToolChoice           any            `option:"tool_choice"`
	TopLogprobs          *int           `option:"top_logprobs"`
	TopP                 *float64       `option:"top_p"`
	User                 string         `option:"user"`
	Verbosity            string         `option:"verbosity"`
	WebSearchOptions     map[string]any `option:"web_search_options"`
}

// Map returns what [Model.Options] and [ChatOptions] take.
func (o OpenAIOptions) Map() map[string]any { return optionMap(o) }

// OpenAIResponsesOptions are options of models of OpenAI's Responses API.
// Members of requests have the names that the API has for them.
type OpenAIResponsesOptions struct {
	CommonOptions
	Thoughts             string           `option:"thoughts"` // "off", the default, or "text"
	ContextManagement    []map[string]any `option:"context_management"`
	Include              []string         `option:"include"`
	MaxOutputTokens      *int             `option:"max_output_tokens"`
	MaxToolCalls         *int             `option:"max_tool_calls"`
	Metadata             map[string]any   `option:"metadata"`
	ParallelToolCalls    *bool            `option:"parallel_tool_calls"`
	Prompt               map[string]any   `option:"prompt"`
	PromptCacheKey       string           `option:"prompt_cache_key"`
	PromptCacheRetention string           `option:"prompt_cache_retention"`
	Reasoning            map[string]any   `option:"reasoning"`
	SafetyIdentifier     string           `option:"safety_identifier"`
	ServiceTier          string           `option:"service_tier"`
	Store                *bool            `option:"store"`
	StreamOptions        map[string]any   `option:"stream_options"`
	Temperature          *float64         `option:"temperature"`
	Text                 map[string]any   `option:"text"`
	ToolChoice           any              `option:"tool_choice"`
	TopLogprobs          *int             `option:"top_logprobs"`
	TopP                 *float64         `option:"top_p"`
	Truncation           string           `option:"truncation"`
	User                 string           `option:"user"`
}

// Map returns what [Model.Options] and [ChatOptions] take.
func (o OpenAIResponsesOptions) Map() map[string]any { return optionMap(o) }

// AnthropicOptions are options of models of Anthropic's Messages API.
// Members of requests have the names that the API has for them.
type AnthropicOptions struct {
	CommonOptions
	Thoughts          string         `option:"thoughts"`      // "off", the default, or "text"
	CacheControl      any            `option:"cache_control"` // of all cache markers; false for none
	Container         any            `option:"container"`
	ContextManagement map[string]any `option:"context_management"`
	InferenceGeo      string         `option:"inference_geo"`
	MaxTokens         *int           `option:"max_tokens"` // 16384 by default, beside what Thinking allows for thinking
	Metadata          map[string]any `option:"metadata"`
	OutputConfig      map[string]any `option:"output_config"`
	ServiceTier       string         `option:"service_tier"`
	StopSequences     []string       `option:"stop_sequences"`
	Temperature       *float64       `option:"temperature"`
	Thinking          map[string]any `option:"thinking"`
	ToolChoice        map[string]any `option:"tool_choice"`
	TopK              *int           `option:"top_k"`
	TopP              *float64       `option:"top_p"`
}

// Map returns what [Model.Options] and [ChatOptions] take.
func (o AnthropicOptions) Map() map[string]any { return optionMap(o) }

// GeminiOptions are options of models of Google's Gemini API.
// Members of requests have the names that the API has for them.
type GeminiOptions struct {
	CommonOptions
	Thoughts                   string           `option:"thoughts"` // "off", the default, or "text"
	CachedContent              string           `option:"cachedContent"`
	CandidateCount             *int             `option:"candidateCount"`
	EnableEnhancedCivicAnswers *bool            `option:"enableEnhancedCivicAnswers"`
	FrequencyPenalty           *float64         `option:"frequencyPenalty"`
	GenerationConfig           map[string]any   `option:"generationConfig"` // what has no field
	ImageConfig                map[string]any   `option:"imageConfig"`
	Logprobs                   *int             `option:"logprobs"`
	MaxOutputTokens            *int             `option:"maxOutputTokens"`
	MediaResolution            string           `option:"mediaResolution"`
	PresencePenalty            *float64         `option:"presencePenalty"`
	ResponseJSONSchema         map[string]any   `option:"responseJsonSchema"`
	ResponseLogprobs           *bool            `option:"responseLogprobs"`
	ResponseMimeType           string           `option:"responseMimeType"`
	ResponseModalities         []string         `option:"responseModalities"`
	ResponseSchema             map[string]any   `option:"responseSchema"`
	SafetySettings             []map[string]any `option:"safetySettings"`
	Seed                       *int             `option:"seed"`
	SpeechConfig               map[string]any   `option:"speechConfig"`
	StopSequences              []string         `option:"stopSequences"`
	Temperature                *float64         `option:"temperature"`
	ThinkingConfig             map[string]any   `option:"thinkingConfig"`
	ToolConfig                 map[string]any   `option:"toolConfig"`
	TopK                       *int             `option:"topK"`
	TopP                       *float64         `option:"topP"`
}

// Map returns what [Model.Options] and [ChatOptions] take.
func (o GeminiOptions) Map() map[string]any { return optionMap(o) }

// OllamaOptions are options of models of Ollama's chat API.
// Members of requests have the names that the API has for them.
type OllamaOptions struct {
	CommonOptions
	ToolFormat      string         `option:"toolFormat"`      // how calls stand in the text; "off" by default
	ToolDelivery    string         `option:"toolDelivery"`    // "native", the default, or "prompt"
	ReasoningFormat string         `option:"reasoningFormat"` // how reasoning stands in the text; "leading" by default
	ReasoningOpened *bool          `option:"reasoningOpened"` // answers begin inside of reasoning
	Thoughts        string         `option:"thoughts"`        // "off", the default, "text" or "thinking"
	Format          any            `option:"format"`
	KeepAlive       any            `option:"keep_alive"`
	Logprobs        *bool          `option:"logprobs"`
	Options         map[string]any `option:"options"`
	Shift           *bool          `option:"shift"`
	Think           any            `option:"think"`
	TopLogprobs     *int           `option:"top_logprobs"`
	Truncate        *bool          `option:"truncate"`
}

// Map returns what [Model.Options] and [ChatOptions] take.
func (o OllamaOptions) Map() map[string]any { return optionMap(o) }

// optionMap is a struct of options by their names, without those that are nil or empty.
func optionMap(options any) map[string]any {
	all := map[string]any{}
	addOptions(all, reflect.ValueOf(options))
	return all
}

func addOptions(all map[string]any, options reflect.Value) {
	for field, v := range options.Fields() {
		if field.Anonymous {
			addOptions(all, v)
			continue
		}
		switch v.Kind() {
		case reflect.String:
			if v.Len() == 0 {
				continue
			}
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
			if v.IsNil() {
				continue
			}
		}
		switch o := reflect.Indirect(v).Interface().(type) {
		case time.Duration:
			all[field.Tag.Get("option")] = o.Milliseconds()
		case RetryOptions:
			all[field.Tag.Get("option")] = optionMap(o)
		default:
			all[field.Tag.Get("option")] = o
		}
	}
}
