// Package markdown answers questions about Markdown text: where its headings, sections and code blocks are ([Index]),
// and what links, images, plain text and parse tree it has ([Parse]).
//
// An Index is built line by line and keeps only the text of headings. It recognizes ATX headings (one to six # at the
// start of a line, then white space), fenced code and front matter, and nothing else: a section ends before the next
// heading of the same or a smaller depth.
//
// Parse reads CommonMark as far as the following goes, and of GFM tables, task lists, strikethrough and bare links:
//
//   - blocks: paragraphs, ATX and setext headings, thematic breaks, block quotes, bullet and ordered lists, fenced and
//     indented code, HTML blocks, tables whose header row is a line of its own, definitions of links in one line;
//   - within them: emphasis, strong, strikethrough, code, links and images (inline, and by full, collapsed and shortcut
//     references), links in angle brackets, bare links that start with http://, https:// or www., HTML, escapes, hard
//     breaks, numeric character references and the named ones amp, lt, gt, quot, apos and nbsp;
//   - not: footnotes, other named character references, bare e-mail addresses, titles of definitions on a line of their
//     own, titles over several lines.
//
// Answers are encoded values (package value). Lines count from 0.
//
// Text may be hostile: parsing takes time proportional to its length, at most [MaxDepth] levels and [MaxNodes] nodes.
package markdown

import (
	"bytes"
	"errors"

	"github.com/turncore/turncore/abi/value"
)

const (
	// MaxDepth is the maximum nesting of blocks, and of nodes within one block. A tree with both still fits into the
	// depth that package value accepts, at two levels of a value per node.
	MaxDepth = 100
	// MaxNodes is the maximum number of blocks of a text, of nodes of a block, and of headings and code blocks of an
	// index.
	MaxNodes = 1 << 18
)

var (
	// ErrTooDeep says that a text nests deeper than [MaxDepth].
	ErrTooDeep = errors.New("markdown: nested too deeply")
	// ErrTooLarge says that a text has more than [MaxNodes] nodes of a kind.
	ErrTooLarge = errors.New("markdown: too many nodes")
)

type kind uint8

const (
	root kind = iota
	quote
	list
	item
	paragraph
	heading
	rule
	fenced
	indented
	htmlBlock
	table
	row
	definition
	frontMatter

	text
	emphasis
	strong
	deleted
	inlineCode
	lineBreak
	inlineHTML
	link
	image
)

// names are the node types of mdast, by kind.
var names = [...]string{
	"root", "blockquote", "list", "listItem", "paragraph", "heading", "thematicBreak", "code", "code", "html", "table", "tableRow", "definition", "yaml",
	"text", "emphasis", "strong", "delete", "inlineCode", "break", "html", "link", "image",
}

// block is a block of a document.
type block struct {
	kind       kind
	children   []*block
	text       []byte // lines of a leaf
	start, end int    // lines, the last one inclusive

	depth     int    // of a heading; of a fence its length
	marker    byte   // of a list; delimiter of an ordered list; fence character; end of an HTML block
	indent    int    // of an item's content; of a fence
	first     int    // number of an ordered list's first item
	task      int8   // of an item: 1 to do, 2 done
	info      []byte // info string of a fence; alignments of the columns
	target    *target
	children0 [1]*block
}

// target is the destination of a link or an image.
type target struct {
	label, url, title []byte
	titled            bool
}

// Document is parsed Markdown.
type Document struct {
	root    *block
	targets map[string]*target
	err     error
}

// byteOrderMark may precede a text and is not part of it.
var byteOrderMark = []byte("\ufeff")

// Parse reads the lines [from, to) of a text; a negative to, or one behind the end, is the end. It resolves references
// in the whole text. The error is [ErrTooDeep] or [ErrTooLarge].
func Parse(source []byte, from, to int) (*Document, error) {
	source = bytes.TrimPrefix(source, byteOrderMark)
	count := 0
	if len(source) > 0 {
		count = bytes.Count(source, []byte("\n")) + 1
	}
	if to < 0 || to > count {
		to = count
	}
	d := &Document{targets: map[string]*target{}}
	var err error
	if from > 0 || to < count {
		if _, err = parseBlocks(source, 0, count, d.targets); err != nil {
			return nil, err
		}
	}
	if d.root, err = parseBlocks(source, max(0, min(from, to)), to, d.targets); err != nil {
		return nil, err
	}
	return d, nil
}

// Tree returns the parse tree: a map for each node, with its type, fields and children as in mdast, and for blocks also
// startLine and endLine (inclusive). Links and images by reference are links and images.
func (d *Document) Tree() ([]byte, error) {
	return d.writeBlock(nil, d.root), d.err
}

// Text returns the text without its markup, as a string: at least a line for each block, table cells separated by tabs,
// code unchanged, HTML tags removed, and images replaced by their alternative text.
func (d *Document) Text() ([]byte, error) {
	return value.AppendText(nil, d.plain(nil, d.root)), d.err
}

// Links lists all links as maps of text, url and, if present, title.
func (d *Document) Links() ([]byte, error) { return d.collect(link, "text") }

// Images lists all images as maps of alt, url and, if present, title.
func (d *Document) Images() ([]byte, error) { return d.collect(image, "alt") }

//go:noinline
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

//go:noinline
func isBlank(b []byte) bool { return len(trimLeft(b)) == 0 }

// trimLeft, trimRight and trim strip white space. They and the functions below are so small that the compiler would
// inline them everywhere, which costs the module kilobytes.
//
//go:noinline
func trimLeft(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	return b
}

//go:noinline
func trimRight(b []byte) []byte {
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

//go:noinline
func trim(b []byte) []byte { return trimRight(trimLeft(b)) }

// lower returns ASCII letters in lower case.
//
//go:noinline
func lower(b []byte) []byte {
	out := make([]byte, len(b))
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		out[i] = c
	}
	return out
}

// in reports whether a byte is one of some.
//
//go:noinline
func in(c byte, some string) bool {
	for i := range len(some) {
		if some[i] == c {
			return true
		}
	}
	return false
}

//go:noinline
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

//go:noinline
func isDigit(c byte) bool { return c-'0' <= 9 }

//go:noinline
func isPunct(c byte) bool {
	return c > ' ' && c < 0x7f && !isLetter(c) && !isDigit(c)
}

// run returns the number of bytes c at the start of b.
//
//go:noinline
func run(b []byte, c byte) int {
	n := 0
	for n < len(b) && b[n] == c {
		n++
	}
	return n
}
