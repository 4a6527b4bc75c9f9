package markup

import "strings"

// Formats is a set of formats of calls and of reasoning.
type Formats uint16

// The formats, in the order of the table in the package documentation.
const (
	Hermes Formats = 1 << iota
	Gemma
	GptOss
	Phi
	Pythonic
	BarePythonic
	Llama3JSON
	Mistral
	Qwen3Coder
	LooseKeyed

	ThinkTag
	HarmonyAnalysis
	GemmaChannel

	// Calls are all formats of calls.
	Calls = ThinkTag - 1
	// Reasoning are all formats of reasoning.
	Reasoning = ThinkTag | HarmonyAnalysis | GemmaChannel
	// Auto are all formats.
	Auto = Calls | Reasoning
)

const formatNames = "hermes gemma gpt_oss phi pythonic bare_pythonic llama3_json mistral qwen3_coder loose_keyed think_tag harmony_analysis gemma_channel "

// Named returns the format that a name of the table stands for; "auto" are all of them. ok is false for any other name.
func Named(name string) (f Formats, ok bool) {
	if name == "auto" {
		return Auto, true
	}
	rest := formatNames
	for f = 1; rest != ""; f <<= 1 {
		var known string
		if known, rest, _ = strings.Cut(rest, " "); known == name {
			return f, true
		}
	}
	return 0, false
}

// String returns the names of the formats of the set, with a space between them.
func (f Formats) String() string {
	if f&Auto == Auto {
		return "auto"
	}
	names, rest := "", formatNames
	for ; rest != ""; f >>= 1 {
		end := strings.IndexByte(rest, ' ') + 1
		if f&1 != 0 {
			names += rest[:end]
		}
		rest = rest[end:]
	}
	return strings.TrimSuffix(names, " ")
}
