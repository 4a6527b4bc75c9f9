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

// mark is a marker. One without a format belongs to the envelope that a chat template puts around texts.
type mark struct {
	text   string
	format Formats
	kind   markKind
}

var marks = [...]mark{
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

// mark looks for a marker at the start of t that acts where prose stands; for one that opens reasoning only, if opens is
// set.
func (r *Reader) mark(t []byte, opens bool) (m *mark, n int, v verdict) {
	for i := range marks {
		m = &marks[i]
		if m.format&r.options.Formats == 0 && m.format != 0 || opens && m.kind != opensThought {
			continue
		}
		switch m.kind {
		case endsThought, breaksThought:
			continue
		case closesThought:
			if r.options.NoOrphans {
				continue
			}
		case firstOnly:
			if !r.blank {
				continue
			}
		case stray:
			if len(r.calls) == 0 {
				continue
			}
		}
		r.work++
		n, v = len(m.text), begins(t, m.text)
		if v == yes && m.kind == turn {
			n, v = r.role(t, n)
		}
		if v == yes && m.kind == lastOnly {
			i := spaceEnd(t[:min(len(t), n+maxSpace)], n)
			if v = no; i == len(t) {
				v = more
			} else if i < len(t) && t[i] == '<' {
				v = yes
			}
			if i == len(t) && r.final {
				v = yes
			}
		}
		if v == yes || v == more && !r.final {
			return m, n, v
		}
	}
	return nil, 0, no
}

// ends tells whether a text that is a call as a whole ends at the start of t, with a marker of the envelope or with
// reasoning.
func (r *Reader) ends(t []byte) verdict {
	_, _, v := r.mark(t, false)
	return v
}

// role returns the end of the role at t[n:], with the line end behind it. A marker without a role is n long.
func (r *Reader) role(t []byte, n int) (int, verdict) {
	for _, role := range roles {
		switch begins(t[n:], role) {
		case more:
			if !r.final {
				return 0, more
			}
			return len(t), yes
		case yes:
			return n + len(role), yes
		}
	}
	return n, yes
}

// begins tells whether t begins with s.
func begins(t []byte, s string) verdict {
	n := min(len(t), len(s))
	switch {
	case string(t[:n]) != s[:n]:
		return no
	case n < len(s):
		return more
	}
	return yes
}
