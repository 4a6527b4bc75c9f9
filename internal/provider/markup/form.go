package markup

// form is a form in which calls are written, with a format of its own or one of several of its format.
type form struct {
	format Formats
	flags  uint8
	lead   string // the bytes that it can begin with
	// open is the pattern that it begins with.
	open string
	// steps lead on from there. In a state, the first step whose pattern matches is taken; if none does, the text is not
	// of this form.
	steps []step
	// lost is the state to go on in with a call that turns out to be none of this form, rather than to give it up.
	lost uint8
}

const (
	offered = 1 << iota // it begins with the name of an offered tool
	start               // it can stand at the start of a text only
	weak                // it has no marker: it is not looked for once there was a call of another format
	loose               // what is not complete, or cannot be read, is prose: it is no call with a defect

	bare  = offered | weak | loose
	whole = start | weak | loose
)

// step is a step from one state to another.
type step struct {
	in   uint8
	on   string // pattern
	do   action // what is done behind the match before the next state begins
	with string // what it is done with
	next uint8
}

// done is the state behind the last step.
const done = 0xff

// forms are tried in their order, which is that of the table in the package documentation.
var forms = [...]form{
	{Hermes, 0, "<", "<tool_call>" + ws + look + "{[" + stop, hermes, 0},

	{Gemma, 0, "<", "<|tool_call>" + ws + opt + "call:" + stop + name + ws + look + "{(" + stop, gemma, 0},
	{Gemma, 0, "<", "<start_function_call>" + ws + opt + "call:" + stop + name + ws + look + "{(" + stop, gemma, 0},
	{Gemma, 0, "<", "<tool_call>" + ws + "call:" + name + ws + look + "{(" + stop, gemma, 0},
	{Gemma, 0, "c", "call:" + name + ws + look + "{(" + stop, gemma, 0},
	{Gemma, offered | weak, "", tool + cut + "{" + ws + look + "}\"'<" + stop, gemma, 0},
	{Gemma, offered | weak, "", tool + cut + "{" + ws + "“", gemma, 0},
	{Gemma, offered | weak, "", tool + cut + "{" + ws + word + ws + ":", gemma, 0},

	{GptOss, 0, "<", head + "call" + stop, harmony, 0},
	{HarmonyAnalysis, 0, "<", head + "analysis" + stop, nil, 0},
	{GptOss | HarmonyAnalysis, 0, "<", head + "text" + stop, nil, 0},

	{Phi, 0, "f", "functools" + ws + look + "[" + stop, objects, 0},
	{Phi, 0, "<", "<|tool_call|>" + ws + look + "[" + stop, phi, 0},

	{Pythonic, 0, "<", "<|python_start|>" + ws + "[", pythonic, 7},
	{Pythonic, 0, "<", "<|tool_call_start|>" + ws + "[", pythonic, 7},
	{Pythonic, whole, "[`", fence + ws + "[" + cut + ws + name + "(", pythonic, 0},
	{BarePythonic, bare, "", cut + tool + "(", barePythonic, 0},
	{BarePythonic, weak | loose, "`", fence + ws + cut + tool + "(", fencedPythonic, 0},

	{Llama3JSON, whole, "{[<`", opt + "<|python_tag|>" + stop + fence + ws + opt + "[" + stop + ws + look + "{" + stop, llama, 0},

	{Mistral, 0, "[", "[TOOL_CALLS]" + ws + look + "{[" + stop, objects, 0},
	{Mistral, 0, "[", "[TOOL_CALLS]" + ws + name + opt + "[ARGS]" + stop + ws + look + "{" + stop, objects, 0},
	{Mistral, 0, "[", "[TOOL_CALLS]" + ws + name + "[CALL_ID]" + word + "[ARGS]" + ws + look + "{" + stop, objects, 0},

	{Qwen3Coder, 0, "<", "<tool_call>" + ws + "<function=" + tag, qwen, 5},
	{Qwen3Coder, 0, "<", "<function=" + tag, qwen, 5},

	{LooseKeyed, bare | start, "", tool + opt + " " + stop + opt + "\r" + stop + "\n", looseKeyed, 0},
}
