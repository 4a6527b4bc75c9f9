package markup

// markKind is what a marker that stands for itself does.
type markKind uint8

const (
	envelope      markKind = iota // is dropped
	turn                          // is dropped, with the role behind it
	firstOnly                     // is dropped at the start of a text
	lastOnly                      // is dropped at the end of a text, or before another marker
	stray                         // is dropped behind a call
	opensThought                  // begins reasoning
	closesThought                 // ends reasoning
	endsThought                   // ends reasoning, and means nothing outside of it
	breaksThought                 // ends reasoning, and begins something else
)

// marker is a marker that stands for itself. One without a format belongs to the envelope that a chat template puts
// around texts.
type marker struct {
	text   string
	format Formats
	kind   markKind
}

var marks = [...]marker{
	{"<think>", ThinkTag, opensThought},
	{"</think>", ThinkTag, closesThought},
	{"<thinking>", ThinkTag, opensThought},
	{"</thinking>", ThinkTag, closesThought},
	{"[THINK]", ThinkTag, opensThought},
	{"[/THINK]", ThinkTag, closesThought},
	{"<|channel>thought", GemmaChannel, opensThought},
	{"<channel|>", GemmaChannel, closesThought},
	{"<|end|>", HarmonyAnalysis, endsThought},
	{"<|return|>", HarmonyAnalysis, endsThought},
	{"<|start|>", HarmonyAnalysis, breaksThought},
	{"<|channel|>", HarmonyAnalysis, breaksThought},

	{"</tool_call>", Hermes | Gemma | Qwen3Coder, stray},
	{"<tool_call|>", Gemma, stray},
	{"<end_function_call>", Gemma, stray},
	{"<|call|>", GptOss, stray},

	{"<|start|>", GptOss | HarmonyAnalysis, turn},
	{"<|im_start|>", 0, turn},
	{"<|im_end|>", 0, envelope},
	{"<|start_header_id|>", 0, turn},
	{"<|end_header_id|>", 0, envelope},
	{"<|start_of_role|>", 0, turn},
	{"<|end_of_role|>", 0, envelope},
	{"<start_of_turn>", 0, turn},
	{"<end_of_turn>", 0, envelope},
	{"<|turn>", 0, turn},
	{"<turn|>", 0, envelope},
	{"<|assistant|>", 0, envelope},
	{"<|end|>", 0, envelope},
	{"<|return|>", 0, envelope},
	{"<|eot_id|>", 0, envelope},
	{"<|eom_id|>", 0, envelope},
	{"<|begin_of_text|>", 0, envelope},
	{"<|end_of_text|>", 0, envelope},
	{"<|startoftext|>", 0, envelope},
	{"<|endoftext|>", 0, envelope},
	{"<|python_tag|>", 0, envelope},
	{"<start_function_response>", 0, envelope},
	{"<|tool_response>", 0, envelope},
	{"<｜begin▁of▁sentence｜>", 0, envelope},
	{"<｜end▁of▁sentence｜>", 0, envelope},
	{"<｜Assistant｜>", 0, envelope},
	{"<bos>", 0, envelope},
	{"<eos>", 0, envelope},
	{"<s>", 0, firstOnly},
	{"</s>", 0, lastOnly},
}

var roles = [...]string{"assistant", "model", "user", "system", "developer", "tool", "ipython"}

// mark looks for a marker at the start of t that acts where prose stands; for one that opens reasoning only, if opens
// is set. It returns the length of the marker.
func (r *Reader) mark(t []byte, opens bool) (m *marker, n int) {
	if len(t) > 0 && t[0] != '<' && t[0] != '[' { // as all of them begin
		return nil, no
	}
	for i := range marks {
		m = &marks[i]
		if m.format&r.options.Formats == 0 && m.format != 0 || opens && m.kind != opensThought ||
			m.kind == endsThought || m.kind == breaksThought || m.kind == closesThought && r.options.NoOrphans ||
			m.kind == firstOnly && !r.blank || m.kind == stray && len(r.calls) == 0 {
			continue
		}
		r.work++
		n = begins(t, m.text)
		if n > 0 && m.kind == turn {
			n = r.role(t, n)
		}
		if n > 0 && m.kind == lastOnly {
			end := spaceEnd(t[:min(len(t), n+maxSpace)], n)
			switch {
			case end == len(t) && !r.final:
				n = more
			case end < len(t) && t[end] != '<':
				n = no
			}
		}
		if n > 0 || n == more && !r.final {
			return m, n
		}
	}
	return nil, no
}

// role returns the end of the role at t[n:]. A marker without a role is n long.
func (r *Reader) role(t []byte, n int) int {
	for _, role := range roles {
		switch end := begins(t[n:], role); {
		case end == more && !r.final:
			return more
		case end == more:
			return len(t)
		case end > 0:
			return n + end
		}
	}
	return n
}
