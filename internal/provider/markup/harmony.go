package markup

import "bytes"

// The messages of Harmony, the format of gpt-oss, have a header and a terminator.
//
//	<|start|>assistant<|channel|>analysis<|message|>reasoning<|end|>
//	<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>
//	<|start|>assistant<|channel|>final<|message|>prose<|return|>
//
// The first header of an answer usually begins with the channel. The recipient may stand behind the role too.

const messageTag = "<|message|>"

// header returns the end of the header that t begins with, if it is that of a call, of reasoning (analysis) or of text
// for the user, as the first letter of the kind says. It takes the recipient as the name.
func (c *candidate) header(t []byte, kind byte) int {
	end := headerEnd(t)
	if end < 0 {
		return end
	}
	header := t[:end]
	is := byte('t')
	if i := bytes.Index(header, []byte("<|channel|>analysis")); i >= 0 {
		is = 'a'
		c.thought = HarmonyAnalysis
	}
	if i := bytes.Index(header, []byte(" to=")); i >= 0 {
		is = 'c'
		i += len(" to=")
		if n := begins(header[i:], "functions."); n > 0 {
			i += n
		}
		c.name = span{i, i}
		for b := header[c.name.to]; b != '<' && !space(b); b = header[c.name.to] {
			c.name.to++
		}
	}
	if is != kind {
		return no
	}
	return end
}

// headerEnd returns the end of the header at the start of t.
func headerEnd(t []byte) int {
	channels := 0
	for i := 0; i < min(len(t), maxHeader); i++ {
		if t[i] != '<' {
			continue
		}
		if n := begins(t[i:], messageTag); n > 0 && i > 0 {
			return i + n
		}
		n := begins(t[i:], "<|channel|>")
		if n > 0 {
			channels++
		}
		if n == no {
			n = begins(t[i:], "<|constrain|>")
		}
		if n == no {
			n = begins(t[i:], messageTag)
		}
		if n == no && i == 0 {
			n = begins(t, "<|start|>")
		}
		if n == no || channels > 1 {
			return no
		}
	}
	if len(t) < maxHeader {
		return more
	}
	return no
}
