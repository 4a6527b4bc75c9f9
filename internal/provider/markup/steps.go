package markup

// objects is for a form that ends with its JSON.
var objects = []step{{0, "", takeJSON, "", done}}

// Several objects may stand between the tags, or an array of them. Some models close one brace too many.
var hermes = []step{
	{0, "", takeJSON, "", 1},
	{1, set + blanks + "}" + stop, none, "", 1},
	{1, look + "{" + stop, none, "", 0},
	{1, "</tool_call>", none, "", done},
	{1, "", unclosed, "", done},
}

// Brackets that are open when a closing tag comes, or the text ends, are closed, unless it ends inside a value.
var gemma = []step{
	{0, "", takeLiteral, "", 1},
	{1, ws + "<tool_call|>", none, "", done},
	{1, ws + "<end_function_call>", none, "", done},
	{1, ws + "</tool_call>", none, "", done},
	{1, "", none, "", done},
}

// The header of another message is no terminator.
var harmony = []step{
	{0, "", find, "<|", 1},
	{1, "call|>", takeNamed, "", done},
	{1, "end|>", takeNamed, "", done},
	{1, "return|>", takeNamed, "", done},
	{1, "start|>", unclosed, "", done},
	{1, "channel|>", unclosed, "", done},
	{1, "", none, "", 0},
}

var phi = []step{
	{0, "", takeJSON, "", 1},
	{1, ws + "<|/tool_call|>", none, "", done},
	{1, "", none, "", done},
}

var pythonic = []step{
	{0, set + blanks + stop, none, "", 0},
	{0, name + "(", none, "", 1},
	{1, set + blanks + stop, none, "", 1},
	{1, ")", takeCall, "", 3},
	{1, key + ws + "=", takeArgument, "", 2},
	{2, ",", none, "", 1},
	{2, ")", takeCall, "", 3},
	{3, set + blanks + stop, none, "", 3},
	{3, ",", none, "", 0},
	{3, "]", none, "", 4},
	{4, ws + "<|python_end|>", none, "", done},
	{4, ws + "<|tool_call_end|>", none, "", done},
	{4, "", none, "", done},
	// A list of something else.
	{7, "", find, "<|", 8},
	{8, "python_end|>", none, "", done},
	{8, "tool_call_end|>", none, "", done},
	{8, "", none, "", 7},
}

// Nothing may follow on the line but more calls.
var barePythonic = []step{
	{0, tool + "(", none, "", 1},
	{1, set + blanks + stop, none, "", 1},
	{1, ")", takeCall, "", 3},
	{1, key + ws + "=", takeArgument, "", 2},
	{2, ",", none, "", 1},
	{2, ")", takeCall, "", 3},
	{3, eot, none, "", done},
	{3, set + " \t\r,;" + stop, none, "", 3},
	{3, look + "\n" + stop, none, "", done},
	{3, tool + "(", none, "", 1},
	{3, anyMark, none, "", done},
}

// Nothing may stand in the fence but calls.
var fencedPythonic = []step{
	{0, tool + "(", none, "", 1},
	{1, set + blanks + stop, none, "", 1},
	{1, ")", takeCall, "", 3},
	{1, key + ws + "=", takeArgument, "", 2},
	{2, ",", none, "", 1},
	{2, ")", takeCall, "", 3},
	{3, set + blanks + ",;" + stop, none, "", 3},
	{3, "```", none, "", done},
	{3, tool + "(", none, "", 1},
}

// Objects may stand behind each other, with a semicolon or a comma between them, or in an array. Another key than
// these, or a value of another kind, makes the text an answer in JSON.
var llama = []step{
	{0, "{", begin, "", 1},
	{1, set + blanks + stop, none, "", 1},
	{1, `"name"` + ws + ":" + ws + look + `"` + stop, skipJSON, "", 2},
	{1, `"parameters"` + ws + ":" + ws + look + "{" + stop, skipJSON, "", 2},
	{1, `"arguments"` + ws + ":" + ws + look + `{"` + stop, skipJSON, "", 2},
	{1, `"function"` + ws + ":" + ws + look + `{"` + stop, skipJSON, "", 2},
	{1, `"type"` + ws + ":" + ws + look + `"` + stop, skipJSON, "", 2},
	{1, `"id"` + ws + ":" + ws + look + `"` + stop, skipJSON, "", 2},
	{2, set + blanks + stop, none, "", 2},
	{2, ",", none, "", 1},
	{2, "}", takeObject, "", 3},
	{3, eot, none, "", done},
	{3, set + blanks + ",;" + stop, none, "", 3},
	{3, look + "{" + stop, none, "", 0},
	{3, "]", none, "", done},
	{3, "", none, "", done},
}

// Values are strings, whatever they look like; the line ends that the tags stand at are no part of them. Some models
// write an object of JSON in the place of parameters.
var qwen = []step{
	{0, set + blanks + stop, none, "", 0},
	{0, "<parameter=" + tag, takeText, "</parameter>", 0},
	{0, "</function>", takeCall, "", 4},
	{0, look + "{" + stop, takeJSON, "", 3},
	{3, set + blanks + stop, none, "", 3},
	{3, "</function>", none, "", 4},
	{4, ws + "</tool_call>", none, "", done},
	{4, "", none, "", done},
	// Something else.
	{5, "", find, "</function>", 4},
}

var looseKeyed = []step{
	{0, set + blanks + stop, none, "", 0},
	{0, key + ":", takeLine, "", 1},
	{1, eot, takeCall, "", done},
	{1, anyMark, takeCall, "", done},
	{1, set + blanks + stop, none, "", 1},
	{1, key + ":", takeLine, "", 1},
}

// tail is what may follow in a text that is a call and nothing else.
var tail = []step{
	{0, unfence, none, "", 1},
	{1, eot, none, "", done},
	{1, set + blanks + stop, none, "", 1},
	{1, anyMark, none, "", done},
}

// heldThought is reasoning that is prose if its closing marker does not come.
var heldThought = form{0, loose, "", "", []step{{0, "", takeThought, "", done}}, 0}
