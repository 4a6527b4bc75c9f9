package markdown

import (
	"bytes"
	"unicode/utf8"
)

// span is a node within a block. Spans refer to each other by number; 0 is none.
type span struct {
	kind   kind
	text   []byte // of a node without children
	target *target
	prev   int
	next   int
	child  int // the first child
	height int // of the subtree below
	bare   bool
}

// delimiter is a run of *, _ or ~ that may open or close emphasis.
type delimiter struct {
	span       int
	char       byte
	size, left int // of the run, and of its unused rest
	opens      bool
	closes     bool
	prev, next int
}

// bracket is a [ or ![ that may start a link or an image.
type bracket struct {
	span      int
	image     bool
	inactive  bool // must not enclose a link
	holds     bool // encloses another bracket
	delimiter int  // the last one before this bracket
	pos       int  // position after it
}

type inlineParser struct {
	src      []byte
	pos      int
	spans    []span
	last     int
	delims   []delimiter
	lastOne  int // the last delimiter
	brackets []bracket
	targets  map[string]*target
	ticks    map[int]int // position of the last run of each length
	missing  [5]bool     // ends of HTML that do not occur in the rest
	err      error
}

// inline parses the text of a block. Its first span is next of span 0.
func (d *Document) inline(src []byte) *inlineParser {
	p := &inlineParser{src: src, spans: make([]span, 1, 8), delims: make([]delimiter, 1, 4), targets: d.targets}
	for p.pos < len(src) && p.err == nil {
		p.step()
	}
	p.emphasize(0)
	if p.err != nil {
		d.err = p.err
		p.spans = p.spans[:1]
		p.spans[0] = span{}
	}
	return p
}

// add appends a span.
//
//go:noinline
func (p *inlineParser) add(k kind, text []byte) int {
	n := len(p.spans)
	if n > MaxNodes {
		p.err = ErrTooLarge
	}
	p.spans = append(p.spans, span{kind: k, text: text, prev: p.last})
	p.spans[p.last].next = n
	p.last = n
	return n
}

const special = "\\`<&\n*_~![]"

// step reads the next piece.
func (p *inlineParser) step() {
	b := p.src[p.pos:]
	switch c := b[0]; c {
	case '\\':
		p.escape(b)
	case '`':
		p.code(b)
	case '<':
		p.angle(b)
	case '&':
		if r, n := reference(b); n > 0 {
			p.add(text, utf8.AppendRune(nil, r))
			p.pos += n
			return
		}
		p.take(1)
	case '\n':
		p.newline()
	case '*', '_', '~':
		p.run(c)
	case '!':
		if len(b) > 1 && b[1] == '[' {
			p.open(2)
		} else {
			p.take(1)
		}
	case '[':
		p.open(1)
	case ']':
		p.close()
	default:
		p.plain(b)
	}
}

// take adds the next n bytes as text.
//
//go:noinline
func (p *inlineParser) take(n int) int {
	p.pos += n
	return p.add(text, p.src[p.pos-n:p.pos])
}

// plain reads text up to the next special character or bare link.
func (p *inlineParser) plain(b []byte) {
	n := 0
	for n < len(b) {
		c := b[n]
		if in(c, special) {
			break
		}
		if (c|0x20 == 'h' || c|0x20 == 'w') && p.boundary(p.pos+n) {
			if url, size := bareLink(b[n:]); size > 0 {
				if n > 0 {
					p.take(n)
				}
				label := b[n : n+size]
				p.pos += size
				p.link(link, label, &target{url: url})
				p.spans[p.last].bare = true
				return
			}
		}
		n++
	}
	p.take(n)
}

// boundary reports whether a bare link may start at a position.
//
//go:noinline
func (p *inlineParser) boundary(at int) bool {
	return at == 0 || isSpace(p.src[at-1]) || in(p.src[at-1], "*_~(")
}

// link adds a link with a plain text.
//
//go:noinline
func (p *inlineParser) link(k kind, label []byte, t *target) {
	n := p.add(k, label)
	p.spans = append(p.spans, span{kind: text, text: label})
	p.spans[n].child, p.spans[n].target, p.spans[n].height = len(p.spans)-1, t, 1
}

func (p *inlineParser) escape(b []byte) {
	switch {
	case len(b) > 1 && b[1] == '\n':
		p.add(lineBreak, nil)
		p.pos += 2
		p.pos += run(p.src[p.pos:], ' ')
	case len(b) > 1 && isPunct(b[1]):
		p.pos++
		p.take(1)
	default:
		p.take(1)
	}
}

func (p *inlineParser) newline() {
	hard := false
	if last := &p.spans[p.last]; last.kind == text && p.last > 0 {
		n := len(last.text)
		hard = n > 1 && last.text[n-1] == ' ' && last.text[n-2] == ' '
		last.text = trimRight(last.text)
	}
	if hard {
		p.add(lineBreak, nil)
		p.pos++
	} else {
		p.take(1)
	}
	p.pos += run(p.src[p.pos:], ' ')
}

// code reads a code span, up to the next backtick run of the same length.
func (p *inlineParser) code(b []byte) {
	size := run(b, '`')
	if p.ticks == nil { // last position of each length: no search beyond it
		p.ticks = map[int]int{}
		for i := 0; i < len(p.src); i++ {
			if n := run(p.src[i:], '`'); n > 0 {
				p.ticks[n] = i
				i += n
			}
		}
	}
	if p.ticks[size] <= p.pos {
		p.take(size)
		return
	}
	for i := size; i < len(b); i++ {
		n := run(b[i:], '`')
		if n != size {
			i += n
			continue
		}
		inner := append([]byte(nil), b[size:i]...)
		for j, c := range inner {
			if c == '\n' {
				inner[j] = ' '
			}
		}
		if len(inner) > 1 && inner[0] == ' ' && inner[len(inner)-1] == ' ' && !isBlank(inner) {
			inner = inner[1 : len(inner)-1]
		}
		p.add(inlineCode, inner)
		p.pos += i + n
		return
	}
	p.take(size)
}

// angle reads text after <: an address, or HTML.
func (p *inlineParser) angle(b []byte) {
	if url, n := autolink(b); n > 0 {
		p.pos += n
		p.link(link, b[1:n-1], &target{url: url})
		return
	}
	n := tagSize(b)
	if end, ok := startsHTML(b, true); n == 0 && ok && end > 0 && end < 5 && !p.missing[end] {
		if n = bytes.Index(b[2:], []byte(htmlEnds[end])); n < 0 {
			p.missing[end] = true
		}
		if n >= 0 {
			n += 2 + len(htmlEnds[end])
		}
	}
	if n <= 0 {
		p.take(1)
		return
	}
	p.add(inlineHTML, b[:n])
	p.pos += n
}

// run reads a run of delimiters.
func (p *inlineParser) run(c byte) {
	size := run(p.src[p.pos:], c)
	before, after := ' ', ' '
	if p.pos > 0 {
		before, _ = utf8.DecodeLastRune(p.src[max(0, p.pos-utf8.UTFMax):p.pos])
	}
	if p.pos+size < len(p.src) {
		after, _ = utf8.DecodeRune(p.src[p.pos+size:])
	}
	d := delimiter{char: c, size: size, left: size, prev: p.lastOne}
	left := !isWide(after) && (!isMark(after) || isWide(before) || isMark(before))
	right := !isWide(before) && (!isMark(before) || isWide(after) || isMark(after))
	if d.opens, d.closes = left, right; c == '_' {
		d.opens, d.closes = left && (!right || isMark(before)), right && (!left || isMark(after))
	}
	d.span = p.take(size)
	if c == '~' && size > 2 || !d.opens && !d.closes {
		return
	}
	p.delims = append(p.delims, d)
	p.delims[p.lastOne].next = len(p.delims) - 1
	p.lastOne = len(p.delims) - 1
}

// isWide reports whether a character is white space.
//
//go:noinline
func isWide(r rune) bool {
	return r <= ' ' || r == 0xa0 || r == 0x1680 || r >= 0x2000 && r <= 0x200a || r == 0x202f || r == 0x205f || r == 0x3000
}

// isMark reports whether a character is punctuation, in ASCII, Latin-1 or the punctuation blocks.
//
//go:noinline
func isMark(r rune) bool {
	return r < utf8.RuneSelf && isPunct(byte(r)) || r >= 0xa1 && r <= 0xbf && r != 0xaa && r != 0xb5 && r != 0xba ||
		r >= 0x2010 && r <= 0x205e || r >= 0x3001 && r <= 0x3003 || r >= 0x3008 && r <= 0x301f
}

// emphasize turns the delimiters after one into emphasis and strikethrough, and removes them from the list.
func (p *inlineParser) emphasize(bottom int) {
	var bottoms [3][6]int // position below which there is no opener, by character, whether it opens, and size
	for i := range bottoms {
		for j := range bottoms[i] {
			bottoms[i][j] = bottom
		}
	}
	closer := p.delims[bottom].next
	for closer > 0 && p.err == nil {
		c := &p.delims[closer]
		if !c.closes {
			closer = c.next
			continue
		}
		row := 0
		if c.char == '_' {
			row = 1
		} else if c.char == '~' {
			row = 2
		}
		column := c.size % 3
		if c.opens {
			column += 3
		}
		least := &bottoms[row][column]
		opener := c.prev
		for opener > *least && !p.pairs(&p.delims[opener], c) {
			opener = p.delims[opener].prev
		}
		if opener <= *least {
			*least = c.prev
			if !c.opens {
				p.drop(closer)
			}
			closer = c.next
			continue
		}
		o := &p.delims[opener]
		n, k := 1, emphasis
		if o.left > 1 && c.left > 1 {
			n, k = 2, strong
		}
		if c.char == '~' {
			n, k = c.left, deleted
		}
		p.wrap(k, o.span, c.span)
		o.next, c.prev = closer, opener
		o.left -= n
		c.left -= n
		p.spans[o.span].text = p.spans[o.span].text[:o.left]
		p.spans[c.span].text = p.spans[c.span].text[:c.left]
		if o.left == 0 {
			p.drop(opener)
		}
		if c.left == 0 {
			p.drop(closer)
			closer = c.next
		}
	}
	p.delims[bottom].next = 0
	p.lastOne = bottom
}

// pairs reports whether delimiter o can open what c closes.
//
//go:noinline
func (p *inlineParser) pairs(o, c *delimiter) bool {
	if !o.opens || o.char != c.char {
		return false
	}
	if c.char == '~' {
		return o.size == c.size
	}
	return !(o.closes || c.opens) || (o.size+c.size)%3 != 0 || o.size%3 == 0 && c.size%3 == 0
}

// drop removes a delimiter from the list.
//
//go:noinline
func (p *inlineParser) drop(n int) {
	d := &p.delims[n]
	p.delims[d.prev].next = d.next
	if d.next > 0 {
		p.delims[d.next].prev = d.prev
	}
}

// wrap moves the spans between two into a new span; until is 0 for all that follow.
func (p *inlineParser) wrap(k kind, from, until int) int {
	n := len(p.spans)
	if n > MaxNodes {
		p.err = ErrTooLarge
	}
	s := span{kind: k, child: p.spans[from].next, prev: from, next: until}
	if s.child == until {
		s.child = 0
	}
	last := p.last
	if until > 0 {
		last = p.spans[until].prev
		p.spans[until].prev = n
	}
	if s.child > 0 {
		p.spans[s.child].prev = 0
		p.spans[last].next = 0
	}
	for child := s.child; child > 0; child = p.spans[child].next {
		c := &p.spans[child]
		if k == link && c.bare { // links do not nest
			c.kind, c.child, c.height = text, 0, 0
		}
		s.height = max(s.height, c.height+1)
	}
	if s.height > MaxDepth {
		p.err = ErrTooDeep
	}
	p.spans = append(p.spans, s)
	p.spans[from].next = n
	if until == 0 {
		p.last = n
	}
	return n
}

// open adds a bracket of n bytes.
//
//go:noinline
func (p *inlineParser) open(n int) {
	if last := len(p.brackets) - 1; last >= 0 {
		p.brackets[last].holds = true
	}
	s := p.take(n)
	p.brackets = append(p.brackets, bracket{span: s, image: n == 2, delimiter: p.lastOne, pos: p.pos})
}

// close reads a closing bracket and forms a link or an image if possible.
func (p *inlineParser) close() {
	last := len(p.brackets) - 1
	if last < 0 {
		p.take(1)
		return
	}
	b := p.brackets[last]
	p.brackets = p.brackets[:last]
	rest := p.src[p.pos+1:]
	var t *target
	size := 0
	if !b.inactive {
		if t, size = resource(rest); t == nil {
			label := p.src[b.pos:p.pos]
			known := !b.holds && len(label) <= maxLabel
			if n := labelSize(rest); n > 0 {
				label, size, known = rest[1:n-1], n, true
			} else if len(rest) > 1 && rest[0] == '[' && rest[1] == ']' {
				size = 2
			}
			if known && len(p.targets) > 0 {
				t = p.targets[normalize(label)]
			}
		}
	}
	if t == nil {
		p.take(1)
		return
	}
	p.pos += 1 + size
	p.emphasize(b.delimiter)
	k := link
	if b.image {
		k = image
	}
	n := p.wrap(k, b.span, 0)
	p.spans[n].target = t
	p.spans[b.span].text = nil // the bracket itself
	if k == link {
		for i := last - 1; i >= 0 && !p.brackets[i].inactive; i-- {
			// An inactive bracket has already deactivated those before it; images may hold links.
			if !p.brackets[i].image {
				p.brackets[i].inactive = true
			}
		}
	}
}
