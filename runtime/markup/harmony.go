package markup

import "bytes"

// Harmony, the format of gpt-oss: messages with a header and a terminator.
//
//	<|start|>assistant<|channel|>analysis<|message|>reasoning<|end|>
//	<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>
//	<|start|>assistant<|channel|>final<|message|>prose<|return|>
//
// The first header of an answer usually begins with the channel. The recipient may stand behind the role too.

const messageTag = "<|message|>"

// harmonyHeader reads the header that t begins with: the name of the channel, and the recipient as c.name.
func harmonyHeader(c *candidate, t []byte) (channel []byte, n int, v verdict) {
	if v = begins(t, "<|channel|>"); v == no {
		v = begins(t, "<|start|>")
	}
	if v != yes {
		return nil, 0, v
	}
	end, v := headerEnd(t)
	if v != yes {
		return nil, end, v
	}
	header := t[:end]
	if i := bytes.Index(header, []byte(" to=")); i >= 0 {
		from := i + len(" to=")
		if bytes.HasPrefix(header[from:], []byte("functions.")) {
			from += len("functions.")
		}
		c.name = [2]int{from, headerWord(header, from)}
	}
	if i := bytes.Index(header, []byte("<|channel|>")); i >= 0 {
		i += len("<|channel|>")
		channel = header[i:headerWord(header, i)]
	}
	return channel, end + len(messageTag), yes
}

// headerEnd returns where the tag is that ends the header at the start of t.
func headerEnd(t []byte) (i int, v verdict) {
	channels := 0
	for ; i < min(len(t), maxMarker); i++ {
		if t[i] != '<' {
			continue
		}
		if v = begins(t[i:], messageTag); v != no {
			return i, v
		}
		if v = begins(t[i:], "<|channel|>"); v == yes {
			channels++
		} else if v == no {
			v = begins(t[i:], "<|constrain|>")
		}
		if v == no && i > 0 || channels > 1 {
			return i, no
		}
	}
	if i < maxMarker {
		return i, more
	}
	return i, no
}

// headerWord returns the end of the word at t[i:].
func headerWord(t []byte, i int) int {
	for i < len(t) && !space(t[i]) && t[i] != '<' {
		i++
	}
	return i
}

func harmonyCall(_ *Reader, c *candidate, t []byte) (int, verdict) {
	_, n, v := harmonyHeader(c, t)
	if v == yes && c.name[1] == 0 {
		v = no
	}
	c.from = n
	return n, v
}

func harmonyThought(_ *Reader, c *candidate, t []byte) (int, verdict) {
	channel, n, v := harmonyHeader(c, t)
	if v == yes && (c.name[1] != 0 || string(channel) != "analysis") {
		v = no
	}
	c.thought = HarmonyAnalysis
	return n, v
}

// harmonyText takes the header of a message for the user.
func harmonyText(_ *Reader, c *candidate, t []byte) (int, verdict) {
	channel, n, v := harmonyHeader(c, t)
	if v == yes && (c.name[1] != 0 || string(channel) == "analysis") {
		v = no
	}
	return n, v
}

// harmonyBody finds the terminator of a call. The header of another message is none.
func harmonyBody(_ *Reader, c *candidate, t []byte) verdict {
	for {
		if v := c.find(t, "<|"); v != yes {
			return v
		}
		at := c.pos - len("<|")
		for i, s := range [...]string{"<|call|>", "<|end|>", "<|return|>", "<|start|>", "<|channel|>"} {
			switch begins(t[at:], s) {
			case more:
				c.pos = at
				return more
			case yes:
				c.to, c.pos = at, at+len(s)
				if i > 2 {
					c.pos, c.defect = at, Unclosed
				}
				return yes
			}
		}
	}
}
