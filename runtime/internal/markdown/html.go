package markdown

import (
	"bytes"
	"strings"
)

// htmlBlocks are the tags that may interrupt a paragraph.
const htmlBlocks = " address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead title tr track ul "

// Ends of an HTML block: a blank line (0), or a line that holds the text with its number.
var htmlEnds = [...]string{1: "-->", 2: "?>", 3: ">", 4: "]]>", 5: "</script>", 6: "</pre>", 7: "</style>", 8: "</textarea>"}

// startsHTML reports whether a line starts an HTML block, and which end it has.
func startsHTML(b []byte, inParagraph bool) (end byte, ok bool) {
	if len(b) < 2 || b[0] != '<' {
		return 0, false
	}
	switch {
	case bytes.HasPrefix(b, []byte("<!--")):
		return 1, true
	case b[1] == '?':
		return 2, true
	case bytes.HasPrefix(b, []byte("<![CDATA[")):
		return 4, true
	case b[1] == '!' && len(b) > 2 && isLetter(b[2]):
		return 3, true
	}
	name := b[1:]
	if name[0] == '/' {
		name = name[1:]
	}
	n := 0
	for n < len(name) && (isLetter(name[n]) || n > 0 && isDigit(name[n])) {
		n++
	}
	if n == 0 || n > 20 {
		return 0, false
	}
	tag := string(lower(name[:n]))
	rest := name[n:]
	if len(rest) == 0 || isSpace(rest[0]) || rest[0] == '>' || rest[0] == '/' {
		for i := 5; i < len(htmlEnds) && b[1] != '/'; i++ {
			if htmlEnds[i][2:len(htmlEnds[i])-1] == tag {
				return byte(i), true
			}
		}
		if strings.Contains(htmlBlocks, " "+tag+" ") {
			return 0, true
		}
	}
	size := tagSize(b)
	return 0, !inParagraph && size > 0 && isBlank(b[size:])
}

// endsHTML reports whether a line ends an HTML block.
//
//go:noinline
func endsHTML(end byte, b []byte) bool {
	return end > 0 && bytes.Contains(lower(b), []byte(htmlEnds[end]))
}

// tagSize returns the length of the opening or closing tag at the start of b, or 0.
//
//go:noinline
func tagSize(b []byte) int {
	i := 1
	closing := len(b) > 1 && b[1] == '/'
	if closing {
		i++
	}
	start := i
	for i < len(b) && (isLetter(b[i]) || i > start && (isDigit(b[i]) || b[i] == '-')) {
		i++
	}
	if i == start {
		return 0
	}
	for {
		space := i
		for i < len(b) && isSpace(b[i]) {
			i++
		}
		if i >= len(b) {
			return 0
		}
		if b[i] == '>' {
			return i + 1
		}
		if b[i] == '/' && !closing && i+1 < len(b) && b[i+1] == '>' {
			return i + 2
		}
		if closing || space == i {
			return 0
		}
		if i = attribute(b, i); i == 0 {
			return 0
		}
	}
}

// attribute returns the end of the attribute at b[i:], or 0.
//
//go:noinline
func attribute(b []byte, i int) int {
	if !isLetter(b[i]) && b[i] != '_' && b[i] != ':' {
		return 0
	}
	for i < len(b) && (isLetter(b[i]) || isDigit(b[i]) || in(b[i], "_:.-")) {
		i++
	}
	end := i
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	if i >= len(b) || b[i] != '=' {
		return end
	}
	for i++; i < len(b) && isSpace(b[i]); i++ {
	}
	if i >= len(b) {
		return 0
	}
	if quote := b[i]; quote == '"' || quote == '\'' {
		n := bytes.IndexByte(b[i+1:], quote)
		if n < 0 {
			return 0
		}
		return i + n + 2
	}
	start := i
	for i < len(b) && !isSpace(b[i]) && !in(b[i], "\"'=<>`") {
		i++
	}
	if i == start {
		return 0
	}
	return i
}
