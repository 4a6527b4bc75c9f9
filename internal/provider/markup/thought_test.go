package markup

import "testing"

var otherTables = []table{
	{"Thought", Options{Formats: Auto}, []shape{
		{"<think>Hm.</think>Hello.", "Hello. ~ Hm."},
		{"<think>\nHm.\n\nSo.\n</think>\n\nHello.\n", "Hello.\n ~ Hm.\n\nSo."},
		{"<thinking>Hm.</thinking> Hello.", "Hello. ~ Hm."},
		{"[THINK]Hm [1].[/THINK]Hello [1].", "Hello [1]. ~ Hm [1]."},
		{"<|channel>thought\nHm.<channel|>Hello.", "Hello. ~ Hm."},
		{"<|channel>thought\n<channel|>Hello.<turn|>", "Hello."},
		{"<think>\n\n</think>\n\nHello.", "Hello."},
		{"One.<think>a</think> Two. <think> b </think>Three.", "One. Two. Three. ~ a\n\nb"},
		// Markers inside of reasoning are words, those of calls too.
		{"<think>a <think> b <tool_call>{\"name\":\"f\"}</tool_call> [1] <x></think>c", "c ~ a <think> b <tool_call>{\"name\":\"f\"}</tool_call> [1] <x>"},
		{"<|channel>thought\n</think> x<channel|>call:f{}", " ~ </think> x | gemma f{}"},
		// No opening marker: it was in the prompt.
		{"Hm.\n</think>\n\nHello.", "Hello. ~ Hm."},
		{"\nHm. <tool_call>{\"name\":\"f\"}</tool_call> So.</think>Hello.", "Hello. ~ Hm. So."},
		{"<think>a</think>b</think>c", "c ~ a\n\nb"},
		{"a<think>b</think>c</think>d", "ad ~ b\n\nc"},
		{"</think>Hello.", "Hello."},
		{"a</think>b</think>[f(a=1)]", " ~ a\n\nb | pythonic f{\"a\":1}"},
		{"a</think>", " ~ a"},
		{"a<channel|>b", "b ~ a"},
		{"f\na: 1\n</think>x", "x"},
		// No closing marker: all of the rest is reasoning.
		{"Hello. <think>Hm. </th", "Hello. ~ Hm. </th"},
		{"<think>", ""},
		{"[THINK]a [/", " ~ a [/"},
		// No markers.
		{"<thin> [THI </thinker <|channel> thought", "<thin> [THI </thinker <|channel> thought"},
		{"<think", "<think"},
	}},
	{"Thought", Options{Formats: Auto, Opened: true}, []shape{
		{"Hm.</think>Hello.", "Hello. ~ Hm."},
		{"\n<think>\nHm.</think>Hello.", "Hello. ~ Hm."},
		{"Hm. <think> So.</think>Hello.</think>", " ~ Hm. <think> So.\n\nHello."},
		{"Hm.", " ~ Hm."},
		{"<thi", " ~ <thi"},
		{"<think", " ~ <think"},
	}},
	{"Thought", Options{Formats: Calls | HarmonyAnalysis, Opened: true}, []shape{
		{"Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hello.", "Hello. ~ Hm."},
		{"Hm.<|channel|>commentary to=functions.f<|message|>{}<|call|>", " ~ Hm. | gpt_oss f{}"},
	}},
	{"Thought", Options{Formats: Calls, Opened: true}, []shape{
		{"<think>Hm.</think>Hello.", "<think>Hm.</think>Hello."},
	}},
	{"Thought", Options{Formats: GemmaChannel}, []shape{
		{"<think>Hm.</think>Hello.", "<think>Hm.</think>Hello."},
	}},
	{"Thought", Options{Formats: Auto, NoOrphans: true}, []shape{
		{"<think> Hm. </think> Hello.<think>So</think>", "Hello. ~ Hm.\n\nSo"},
		{"Hm.</think>Hello.", "Hm.</think>Hello."},
		{"Hello. <think>Hm. <tool_call>{\"name\":\"f\"}</tool_call>", "Hello. <think>Hm. <tool_call>{\"name\":\"f\"}</tool_call>"},
		{"<|channel|>analysis<|message|>a<|end|><|channel|>final<|message|>b", "b ~ a"},
		{"<|channel|>analysis<|message|>a", "<|channel|>analysis<|message|>a"},
	}},
	{"Envelope", Options{Formats: Auto}, []shape{
		{"<|im_start|>assistant\nHello.<|im_end|>\n", "Hello."},
		{"<start_of_turn>model\nHello.<end_of_turn>", "Hello."},
		{"<|turn>model\nHello.<turn|>", "Hello."},
		{"<|begin_of_text|><|start_header_id|>assistant<|end_header_id|>\n\nHello.<|eot_id|>", "Hello."},
		{"<|start_of_role|>assistant<|end_of_role|>Hello.<|end_of_text|>", "Hello."},
		{"<|assistant|>Hello.<|end|>", "Hello."},
		{"<bos>Hello.<eos>", "Hello."},
		{"<｜Assistant｜>Hello.<｜end▁of▁sentence｜>", "Hello."},
		{"<s> Hello.</s>", "Hello."},
		{"<s>Hello.</s>\n</s>", "Hello."},
		{"The <s>old</s> price.", "The <s>old</s> price."},
		{"<|im_start|>Hello<|im_end|><|im_start|>ass", "Hello"},
		{"a <|im_end|> b", "a b"},
		{"a<|im_end|>\nb", "a\nb"},
		{"a\n<|im_end|>  b", "a\nb"},
		{"a <|im_end|>\nb", "a\nb"},
		{"<|im_end|>", ""},
		{"<|im_e", "<|im_e"},
		{"<|unknown|> <x>", "<|unknown|> <x>"},
	}},
	{"Envelope", Options{}, []shape{
		{"Hello.<|im_end|>\n", "Hello."},
		{"<think>a</think> <tool_call>{}</tool_call>", "<think>a</think> <tool_call>{}</tool_call>"},
	}},
	// Forms without a marker are looked for as long as no call of another format has come.
	{"FirstMatchSettles", Options{Formats: Auto}, []shape{
		{"<tool_call>{\"name\":\"f\"}</tool_call> f(a=1)\nf{a:1}", "f(a=1)\nf{a:1} | hermes f{}"},
		{"f(a=1)\nf{a:1}\nf(a=2)", "f{a:1} | bare_pythonic f{\"a\":1} | bare_pythonic f{\"a\":2}"},
		{"f(a=1)\n<tool_call>{\"name\":\"f\"}</tool_call>", " | bare_pythonic f{\"a\":1} | hermes f{}"},
	}},
	{"FirstMatchSettles", Options{Formats: BarePythonic}, []shape{
		{"f{a:1}\nf(a=1)", "f{a:1} | bare_pythonic f{\"a\":1}"},
	}},
}

// A text without markup is what it was.
func TestProseIsUntouched(t *testing.T) {
	texts := []string{
		"", " ", "\n\n", " a ", "\r\n a\tb \n", "a\x00b", "\xff\xfe a \xc3", "é", "日本", "\xe6\x97", "# Title\n\n- a\n- b\n",
		"if a < b && b > c { return [1, 2] }", "```js\nlet a = {b: 1};\n```\n", "`f`", "call it", "functional", "\"f\"", "{\"a\": 1}", "[]", "[1](x)",
	}
	var shapes []shape
	for _, text := range texts {
		shapes = append(shapes, shape{text, text})
	}
	check(t, Options{Formats: Auto}, shapes)
}
