// Package htmltext makes readable text of HTML: what a page says, without its markup. Headings, lists, links and
// preformatted text are written as Markdown writes them, rows of tables as cells between bars. What a reader does not
// see (scripts, styles, templates) is left out. It goes through the page once, in time and memory linear in its size,
// and takes any bytes.
package htmltext

import (
	"bytes"
	"strconv"
)

// maxLists is how deep lists are indented.
const maxLists = 16

// Append appends the text of a page, and ends soon after so many bytes of it. link returns the address that a reference
// stands for, "" for one that is to be left out; nil leaves all out.
func Append(dst, page []byte, limit int, link func(ref string) string) []byte {
	w := writer{out: dst, start: len(dst), link: link}
	t := tokens{rest: page}
	for len(w.out)-w.start < limit && t.next() {
		switch {
		case t.name == "":
			w.text(t.text)
		case t.end:
			w.close(t.kind)
		default:
			w.open(&t)
		}
	}
	w.closeLink()
	for n := len(w.out); n > w.start && isSpace(w.out[n-1]); n = len(w.out) {
		w.out = w.out[:n-1]
	}
	return w.out
}

// writer puts the text together.
type writer struct {
	out    []byte
	start  int
	link   func(string) string
	breaks int    // line breaks before what comes next
	space  bool   // a space before what comes next
	prefix []byte // of what comes next, such as a heading's

	lists  [maxLists]int // number of the next item, 0 in lists without numbers
	depth  int           // of lists
	pre    int           // preformatted elements that are open
	cells  bool          // the row has one
	href   string        // of the link that is open
	opened bool          // its text has begun
}

// text writes text of the page, which may hold entities.
func (w *writer) text(text []byte) {
	text = unescape(text)
	for len(text) > 0 {
		if w.pre > 0 {
			if len(w.prefix) > 0 && text[0] == '\n' { // right behind the tag
				text = text[1:]
			}
			if len(text) > 0 {
				w.write(text)
			}
			return
		}
		n := 0
		for n < len(text) && !isSpace(text[n]) {
			n++
		}
		if n == 0 {
			w.space = true
			text = text[1:]
			continue
		}
		w.write(text[:n])
		text = text[n:]
	}
}

// write writes text as it is, behind what belongs before it.
func (w *writer) write(text []byte) {
	if w.opened {
		w.space, w.breaks = w.space || w.breaks > 0, 0
	}
	if len(w.out) > w.start {
		for ; w.breaks > 0; w.breaks-- {
			w.out = append(w.out, '\n')
			w.space = false
		}
		if w.space {
			w.out = append(w.out, ' ')
		}
	}
	w.breaks, w.space = 0, false
	w.out = append(w.out, w.prefix...)
	w.prefix = w.prefix[:0]
	if w.href != "" && !w.opened {
		w.opened = true
		w.out = append(w.out, '[')
	}
	w.out = append(w.out, text...)
}

// end ends the line, or with two the paragraph.
//
//go:noinline
func (w *writer) end(breaks int) {
	w.breaks, w.space = max(w.breaks, breaks), false
}

// begin puts something before the text that comes next.
//
//go:noinline
func (w *writer) begin(prefix string) { w.prefix = append(w.prefix[:0], prefix...) }

func (w *writer) open(t *tokens) {
	switch t.kind {
	case lineBreak:
		w.breaks, w.space = min(w.breaks+1, 2), false
	case anchor:
		w.closeLink()
		if ref := t.attribute("href"); ref != nil && w.link != nil && w.pre == 0 {
			w.href = w.link(string(unescape(ref)))
		}
	case image:
		w.space = true
		w.text(t.attribute("alt"))
		w.space = true
	case title:
		w.end(2)
		w.begin("Title: ")
	case heading:
		w.end(2)
		w.begin("###### "[6-(t.name[1]-'0'):])
	case unordered, ordered:
		w.end(2 - min(w.depth, 1))
		if w.depth++; w.depth <= maxLists {
			w.lists[w.depth-1] = 0
			if t.kind == ordered {
				w.lists[w.depth-1] = 1
			}
		}
	case item:
		w.end(1)
		w.item()
	case formatted:
		w.end(2)
		if w.pre++; w.pre == 1 {
			w.closeLink()
			w.begin("```\n")
		}
	case row:
		w.end(1)
		w.cells = false
	case cell:
		if w.cells && w.breaks == 0 {
			w.out = append(w.out, " |"...)
			w.space = true
		}
		w.cells = true
	case line, paragraph:
		if len(w.prefix) == 0 { // the first paragraph of an item begins on the item's line
			w.end(int(t.kind - '0'))
		}
	}
}

// item begins an item of a list.
func (w *writer) item() {
	level := min(max(w.depth, 1), maxLists) - 1
	w.begin("                              "[:2*level])
	if n := w.lists[level]; n > 0 && w.depth > 0 {
		w.prefix = append(strconv.AppendInt(w.prefix, int64(n), 10), ". "...)
		w.lists[level]++
		return
	}
	w.prefix = append(w.prefix, "- "...)
}

func (w *writer) close(kind byte) {
	switch kind {
	case anchor:
		w.closeLink()
	case unordered, ordered:
		w.depth = max(w.depth-1, 0)
		w.begin("")
		w.end(2 - min(w.depth, 1))
	case title, heading:
		w.begin("")
		w.end(2)
	case item:
		w.begin("")
		w.end(1)
	case formatted:
		if w.pre == 1 && len(w.prefix) == 0 {
			w.out = append(bytes.TrimRight(w.out, "\r\n"), "\n```"...)
		}
		w.begin("")
		w.pre = max(w.pre-1, 0)
		w.end(2)
	case row:
		w.end(1)
	case line, paragraph:
		w.end(int(kind - '0'))
	}
}

//go:noinline
func (w *writer) closeLink() {
	if w.opened {
		w.out = append(append(append(w.out, "]("...), w.href...), ')')
	}
	w.href, w.opened = "", false
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
