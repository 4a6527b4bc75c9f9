// Package markup reads what models write that have no field for tool calls and reasoning: text with markup in it. It
// takes a text apart while it comes, and writes the text that such a model is told its tools with.
//
// These are the formats. A text may hold calls of several of them; how a call begins tells which it is, and where two
// could be meant the upper one is. Forms without a marker are no longer looked for when there was a call of another
// format.
//
//	format            what it looks like                            what makes it one
//	hermes            <tool_call>{"name", "arguments"}</tool_call>  the tags, both of them
//	gemma             call:NAME{key:value} in tags or without,      the tag or the prefix; NAME{ an offered name, and a key
//	                  NAME{key:value}
//	gpt_oss           <|channel|>commentary to=functions.NAME       a header with a recipient, and a terminator
//	                  <|message|>{}<|call|>
//	phi               functools[{"name", "arguments"}]              the word and the bracket, and one that balances it
//	pythonic          [NAME(key=value), ...]                        nothing else in the text, or the tags of Llama 4 or LFM 2
//	bare_pythonic     NAME(key=value)                               an offered name, and nothing behind it on the line
//	llama3_json       {"name", "parameters"}, in a code fence       nothing else in the text, both keys, no unknown one
//	                  or without
//	mistral           [TOOL_CALLS] [{"name", "arguments"}],         the token
//	                  [TOOL_CALLS]NAME[ARGS]{}
//	qwen3_coder       <function=NAME><parameter=KEY>...             the tags; values are strings
//	loose_keyed       NAME, and below it lines of key: value        an offered name, and nothing else in the text
//
//	think_tag         <think>, <thinking> or [THINK] up to the      the tags
//	                  tag that closes it
//	harmony_analysis  <|channel|>analysis<|message|>...<|end|>      the header
//	gemma_channel     <|channel>thought...<channel|>                the tags
//
// To recognise a call is one thing, to permit it another: a call of a tool that was not offered is a call, except where
// an offered name is what makes it one. A call that cannot be run because of how it is written, or because the text
// ends inside of it, has a [Defect], for which the model can be told. Anything that is not a call and no reasoning is
// prose, byte for byte, except for the tokens that chat templates put around texts (<|im_end|>, <eos> and their like),
// which are cut out, with white space that would be left over where something was cut out.
//
// Reasoning that is not closed goes on to the end of the text. A marker that closes reasoning which was not opened
// makes all since the marker before it reasoning, since many prompts end with the marker that opens it; with
// [Options].Opened there is nothing to take back. Inside of reasoning nothing else is looked for.
package markup
