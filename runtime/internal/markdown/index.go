package markdown

import (
	"bytes"

	"github.com/turncore/turncore/abi/value"
)

// MaxFrontMatter is the maximum number of lines of front matter, including its delimiters.
const MaxFrontMatter = 200

// Index finds the headings, sections and code blocks of a text, whose lines are added one by one. The zero Index is
// that of an empty text.
type Index struct {
	lines    int
	headings []section
	blocks   []section
	open     []int    // headings whose sections are open
	matter   [][]byte // front matter, if it gets closed
	reading  bool     // in front matter
	closed   bool
	fence    int // length of the open fence
	mark     byte
	err      error
}

// section is a heading with its section, or a code block.
type section struct {
	depth      int
	text       string // of a heading; info string of a fence
	start, end int
}

// Add adds a line, without its line end. The error of all methods is [ErrTooLarge].
func (x *Index) Add(line []byte) error {
	if x.lines == 0 {
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	if x.lines == 0 && isFrame(line) {
		x.reading = true
		x.lines++
		return nil
	}
	if x.reading {
		if isFrame(line) {
			x.reading, x.closed = false, true
			x.lines++
			return nil
		}
		x.matter = append(x.matter, bytes.Clone(line))
		if x.lines++; x.lines >= MaxFrontMatter {
			x.giveUp()
		}
		return x.err
	}
	x.add(line)
	return x.err
}

// isFrame reports whether a line may delimit front matter.
//
//go:noinline
func isFrame(line []byte) bool { return string(trim(line)) == "---" }

// giveUp treats the lines of apparent front matter as text.
func (x *Index) giveUp() {
	lines := x.matter
	x.reading, x.matter, x.lines = false, nil, 1
	for _, line := range lines {
		x.add(line)
	}
}

func (x *Index) add(line []byte) {
	at := x.lines
	x.lines++
	trimmed := trimLeft(line)
	mark, n, info, ok := fence(trimmed)
	switch {
	case x.fence > 0:
		if ok && mark == x.mark && n >= x.fence && isBlank(trimmed[n:]) {
			x.fence = 0
			x.blocks[len(x.blocks)-1].end = at
		}
		return
	case ok:
		if len(trimmed) > n && isSpace(trimmed[n]) {
			info = nil // the language must directly follow the fence
		}
		x.fence, x.mark = n, mark
		x.blocks = x.append(x.blocks, section{text: string(firstWord(info)), start: at})
		return
	}
	depth := run(line, '#')
	if depth == 0 || depth > 6 || depth == len(line) || !isSpace(line[depth]) {
		return
	}
	x.end(depth, at-1)
	x.open = append(x.open, len(x.headings))
	x.headings = x.append(x.headings, section{depth: depth, text: string(trim(line[depth:])), start: at})
}

//go:noinline
func (x *Index) append(to []section, s section) []section {
	if len(to) >= MaxNodes {
		x.err = ErrTooLarge
		return to
	}
	return append(to, s)
}

// end ends the sections of at least this depth.
//
//go:noinline
func (x *Index) end(depth, line int) {
	for n := len(x.open); n > 0; n-- {
		h := x.open[n-1]
		if h < len(x.headings) && x.headings[h].depth < depth {
			break
		}
		if h < len(x.headings) {
			x.headings[h].end = line
		}
		x.open = x.open[:n-1]
	}
}

// finish ends everything open at the end of the text.
func (x *Index) finish() {
	if x.reading {
		x.giveUp()
	}
	x.end(0, x.lines-1)
	if n := len(x.blocks); x.fence > 0 && n > 0 {
		x.blocks[n-1].end = x.lines - 1
	}
	x.fence = 0
}

// FrontMatter returns the text of the front matter, for package yaml; ok is false if there is none. It is present if
// the first line is --- and another of the first [MaxFrontMatter] lines is too.
func (x *Index) FrontMatter() (yaml []byte, ok bool) {
	if !x.closed {
		return nil, false
	}
	return bytes.Join(x.matter, []byte("\n")), true
}

// Headings lists the headings, or if depth is not 0 those of that depth, as maps of depth, text, startLine and endLine,
// the last line of the section. No line may be added afterwards.
func (x *Index) Headings(depth int) []byte {
	return x.each(&x.headings, func(s *section) bool { return depth == 0 || s.depth == depth }, func(dst []byte, s *section) []byte {
		dst = number(value.AppendMapHeader(dst, 4), "depth", s.depth)
		return lines(field(dst, "text", s.text), s)
	})
}

// Sections lists the sections, or if depth is not 0 those under headings of that depth, as maps of depth, heading,
// headingLine, bodyStartLine and bodyEndLine. No line may be added afterwards.
func (x *Index) Sections(depth int) []byte {
	return x.each(&x.headings, func(s *section) bool { return depth == 0 || s.depth == depth }, func(dst []byte, s *section) []byte {
		dst = number(value.AppendMapHeader(dst, 5), "depth", s.depth)
		dst = number(field(dst, "heading", s.text), "headingLine", s.start)
		return number(number(dst, "bodyStartLine", s.start+1), "bodyEndLine", s.end)
	})
}

// CodeBlocks lists the fenced code blocks, or if some is true those in a language. Each is a map of lang, startLine and
// endLine, the lines of the fences. lang is null if none directly follows the fence; the empty lang selects those. An
// unclosed block ends with the text. No line may be added afterwards.
func (x *Index) CodeBlocks(lang string, some bool) []byte {
	return x.each(&x.blocks, func(s *section) bool { return !some || s.text == lang }, func(dst []byte, s *section) []byte {
		dst = value.AppendString(value.AppendMapHeader(dst, 3), "lang")
		return lines(textOrNil(dst, []byte(s.text)), s)
	})
}

func (x *Index) each(all *[]section, which func(*section) bool, write func(dst []byte, s *section) []byte) []byte {
	x.finish()
	n := 0
	var body []byte
	for i := range *all {
		if s := &(*all)[i]; which(s) {
			n++
			body = write(body, s)
		}
	}
	return append(value.AppendListHeader(nil, n), body...)
}

//go:noinline
func field(dst []byte, name, text string) []byte {
	return value.AppendString(value.AppendString(dst, name), text)
}

//go:noinline
func number(dst []byte, name string, n int) []byte {
	return value.AppendInt(value.AppendString(dst, name), int64(n))
}

//go:noinline
func lines(dst []byte, s *section) []byte {
	return number(number(dst, "startLine", s.start), "endLine", s.end)
}

//go:noinline
func textOrNil(dst, text []byte) []byte {
	if len(text) == 0 {
		return value.AppendNil(dst)
	}
	return value.AppendText(dst, text)
}

// fence reads a line that opens, or may close, fenced code: the mark, its count, and the info string.
//
//go:noinline
func fence(b []byte) (mark byte, n int, info []byte, ok bool) {
	if len(b) < 3 || b[0] != '`' && b[0] != '~' {
		return 0, 0, nil, false
	}
	mark = b[0]
	n = run(b, mark)
	info = trim(b[n:])
	return mark, n, info, n >= 3 && (mark == '~' || bytes.IndexByte(info, '`') < 0)
}

//go:noinline
func firstWord(b []byte) []byte {
	for i, c := range b {
		if isSpace(c) {
			return b[:i]
		}
	}
	return b
}
