package markdown

import "bytes"

// blockParser puts lines into blocks, one by one.
type blockParser struct {
	open    []*block // containers from the root inwards
	leaf    *block   // block that may take further lines, a child of the innermost container
	line    int
	nodes   int
	targets map[string]*target
	err     error
}

// parseBlocks reads the lines [from, to) of a text, and adds the targets of definitions to a map.
func parseBlocks(source []byte, from, to int, targets map[string]*target) (*block, error) {
	p := blockParser{open: []*block{{start: from}}, targets: targets, nodes: 1}
	rest, i := source, 0
	if yaml, n, size := matter(source); n > 0 && from == 0 && n <= to {
		b := p.push(frontMatter)
		b.text, b.end = yaml, n-1
		rest, i = source[size:], n
	}
	for ; i < to; i++ {
		var line []byte
		if line, rest, _ = bytes.Cut(rest, []byte("\n")); i < from {
			continue
		}
		p.line = i
		if p.add(cursor{b: bytes.TrimSuffix(line, []byte("\r"))}); p.err != nil {
			return nil, p.err
		}
	}
	p.close(1)
	p.open[0].end = to - 1
	return p.open[0], p.err
}

// matter finds front matter at the start of a text: its contents, and its size in lines and bytes with the delimiters.
// lines is 0 if there is none.
func matter(source []byte) (yaml []byte, lines, size int) {
	for start := 0; size < len(source) && lines < MaxFrontMatter; {
		line, _, _ := bytes.Cut(source[size:], []byte("\n"))
		before := size
		size = min(size+len(line)+1, len(source))
		closed := isFrame(line)
		switch lines++; {
		case lines == 1 && !closed:
			return nil, 0, 0
		case lines == 1:
			start = size
		case closed:
			return source[start:max(start, before-1)], lines, size
		}
	}
	return nil, 0, 0
}

// cursor is a position in a line. A tab advances its column to the next multiple of 4.
type cursor struct {
	b      []byte
	column int
	spaces int // left of a partly consumed tab
}

// indent returns how many columns of white space come next.
//
//go:noinline
func (c *cursor) indent() int {
	column := c.column
	for _, ch := range c.b {
		if ch == '\t' {
			column += 4 - column&3
		} else if ch == ' ' {
			column++
		} else {
			break
		}
	}
	return column - c.column + c.spaces
}

// skip consumes up to n columns of white space.
//
//go:noinline
func (c *cursor) skip(n int) {
	for n > 0 {
		if c.spaces > 0 {
			k := min(n, c.spaces)
			c.spaces -= k
			n -= k
			continue
		}
		if len(c.b) == 0 || c.b[0] != ' ' && c.b[0] != '\t' {
			return
		}
		width := 1
		if c.b[0] == '\t' {
			width = 4 - c.column&3
		}
		c.b = c.b[1:]
		c.column += width
		c.spaces = width
	}
}

// next consumes n bytes other than white space.
//
//go:noinline
func (c *cursor) next(n int) {
	c.b = c.b[n:]
	c.column += n
}

// appendTo appends the rest of the line.
//
//go:noinline
func (c *cursor) appendTo(dst []byte) []byte {
	for range c.spaces {
		dst = append(dst, ' ')
	}
	return append(dst, c.b...)
}

// push makes a block the last child of the innermost container.
//
//go:noinline
func (p *blockParser) push(k kind) *block {
	if p.nodes++; p.nodes > MaxNodes {
		p.err = ErrTooLarge
	}
	parent := p.open[len(p.open)-1]
	b := &block{kind: k, start: p.line, end: p.line}
	if parent.children == nil {
		parent.children = parent.children0[:0]
	}
	parent.children = append(parent.children, b)
	p.leaf = nil
	return b
}

// enter opens a container.
func (p *blockParser) enter(k kind) *block {
	b := p.push(k)
	if p.open = append(p.open, b); len(p.open) > MaxDepth && p.err == nil {
		p.err = ErrTooDeep
	}
	return b
}

// close closes the leaf, and the containers from the n-th on.
//
//go:noinline
func (p *blockParser) close(n int) {
	if p.leaf != nil {
		p.closeLeaf()
	}
	for len(p.open) > n {
		last := len(p.open) - 1
		b := p.open[last]
		if n := len(b.children); n > 0 {
			b.end = max(b.end, b.children[n-1].end)
		}
		p.open = p.open[:last]
	}
}

func (p *blockParser) closeLeaf() {
	b := p.leaf
	switch b.kind {
	case paragraph:
		if p.definitions(b) {
			b.text = trimRight(b.text)
			p.task(b)
		}
	case indented:
		b.text = trimRight(b.text)
	}
	p.leaf = nil
}

// add processes a line.
func (p *blockParser) add(c cursor) {
	n, leafGoesOn := p.match(&c)
	if leafGoesOn && p.goOn(&c) {
		return
	}
	started := false
	for p.err == nil {
		width := c.indent()
		if isBlank(c.b) {
			break
		}
		if width >= 4 {
			if p.leaf != nil && p.leaf.kind == paragraph && !started {
				break // a line of a paragraph may be indented
			}
			p.prepare(n)
			p.leaf = p.push(indented)
			c.skip(4)
			p.leaf.text = c.appendTo(p.leaf.text)
			return
		}
		at := c
		at.skip(width)
		if at.b[0] == '>' {
			p.prepare(n)
			p.enter(quote)
			at.next(1)
			at.skip(1)
		} else if p.startLeaf(n, leafGoesOn && !started, &at, width) {
			return
		} else if !p.startItem(n, leafGoesOn && !started, &at, width) {
			break
		}
		c, n, started = at, len(p.open), true
	}
	if p.err != nil {
		return
	}
	if isBlank(c.b) {
		p.close(n)
		return
	}
	if p.leaf != nil && p.leaf.kind == paragraph && !started {
		// It continues the paragraph even if its containers do not match.
		for _, b := range p.open {
			b.end = p.line
		}
	} else {
		p.prepare(n)
		p.leaf = p.push(paragraph)
	}
	c.skip(c.indent())
	b := p.leaf
	if b.end = p.line; len(b.text) > 0 {
		b.text = append(b.text, '\n')
	}
	b.text = append(b.text, c.b...)
}

// match consumes the markers of the open containers, and returns how many containers continue and whether all do.
func (p *blockParser) match(c *cursor) (n int, all bool) {
	for n = 1; n < len(p.open); n++ {
		switch b := p.open[n]; b.kind {
		case quote:
			width := c.indent()
			at := *c
			at.skip(width)
			if width > 3 || len(at.b) == 0 || at.b[0] != '>' {
				return n, false
			}
			at.next(1)
			at.skip(1)
			*c = at
		case item:
			if isBlank(c.b) {
				if len(b.children) == 0 {
					return n, false
				}
				c.skip(c.indent())
			} else if c.indent() >= b.indent {
				c.skip(b.indent)
			} else {
				return n, false
			}
		}
	}
	return n, true
}

// goOn adds a line to the leaf if the leaf takes it whatever it holds.
//
//go:noinline
func (p *blockParser) goOn(c *cursor) bool {
	b := p.leaf
	if b == nil {
		return false
	}
	switch b.kind {
	case fenced:
		at := *c
		width := at.indent()
		at.skip(width)
		if mark, n, _, ok := fence(at.b); ok && width <= 3 && mark == b.marker && n >= b.depth && isBlank(at.b[n:]) {
			b.end = p.line
			p.close(len(p.open))
			return true
		}
		c.skip(b.indent)
		b.append(c, p.line)
	case htmlBlock:
		if b.marker == 0 && isBlank(c.b) {
			return false
		}
		b.append(c, p.line)
		if endsHTML(b.marker, c.b) {
			p.close(len(p.open))
		}
	case indented:
		if c.indent() < 4 && !isBlank(c.b) {
			return false
		}
		end := b.end
		c.skip(4)
		b.append(c, p.line)
		if isBlank(c.b) {
			b.end = end
		}
	case table:
		if isBlank(c.b) || p.interrupts(*c) {
			return false
		}
		p.row(c.b)
		b.end = p.line
	default:
		return false
	}
	return true
}

func (b *block) append(c *cursor, line int) {
	if b.end > b.start || len(b.text) > 0 || b.kind == htmlBlock || b.kind == indented {
		b.text = append(b.text, '\n')
	}
	b.text = c.appendTo(b.text)
	b.end = line
}

// prepare closes the blocks that end before a block other than an item starts.
//
//go:noinline
func (p *blockParser) prepare(n int) {
	if p.open[n-1].kind == list {
		n--
	}
	p.close(n)
}

// interrupts reports whether a line starts a block other than a paragraph.
func (p *blockParser) interrupts(c cursor) bool {
	width := c.indent()
	if c.skip(width); width > 3 || len(c.b) == 0 {
		return false
	}
	if _, _, _, ok := fence(c.b); ok || c.b[0] == '>' || isRule(c.b) {
		return true
	}
	if _, ok := headingDepth(c.b); ok {
		return true
	}
	_, _, _, ok := marker(c.b)
	return ok
}

// startLeaf starts a leaf other than a paragraph, after width columns of white space. whole says that the open leaf
// could continue with this line.
func (p *blockParser) startLeaf(n int, whole bool, c *cursor, width int) bool {
	para := p.leaf != nil && p.leaf.kind == paragraph
	if depth, ok := headingDepth(c.b); ok {
		p.prepare(n)
		b := p.push(heading)
		b.depth = depth
		b.text = trim(c.b[depth:])
		if closing := bytes.TrimRight(b.text, "#"); len(closing) == 0 || isSpace(closing[len(closing)-1]) {
			b.text = trim(closing)
		}
		return true
	}
	if mark, size, info, ok := fence(c.b); ok {
		p.prepare(n)
		b := p.push(fenced)
		b.marker, b.depth, b.info, b.indent = mark, size, info, width
		p.leaf = b
		return true
	}
	if whole && para {
		if depth := underline(c.b); depth > 0 {
			b := p.leaf
			if p.definitions(b) {
				b.kind, b.depth, b.end = heading, depth, p.line
				b.text = trim(b.text)
				p.leaf = nil
				return true
			}
		}
		if p.leaf != nil && p.startTable(c.b) {
			return true
		}
	}
	if isRule(c.b) {
		p.prepare(n)
		p.push(rule)
		return true
	}
	if end, ok := startsHTML(c.b, para); ok {
		p.prepare(n)
		b := p.push(htmlBlock)
		b.marker = end
		for range width {
			b.text = append(b.text, ' ')
		}
		b.text = append(b.text, c.b...)
		if p.leaf = b; endsHTML(end, c.b) {
			p.leaf = nil
		}
		return true
	}
	return false
}

// startItem starts an item of a list, and its list if necessary.
func (p *blockParser) startItem(n int, whole bool, c *cursor, width int) bool {
	mark, number, size, ok := marker(c.b)
	if !ok {
		return false
	}
	empty := isBlank(c.b[size:])
	within := p.open[n-1].kind == list
	if p.leaf != nil && p.leaf.kind == paragraph && whole && !within && (empty || mark != 0 && (mark == '.' || mark == ')') && number != 1) {
		return false
	}
	if within && p.open[n-1].marker == mark {
		p.close(n)
	} else {
		p.prepare(n)
		l := p.enter(list)
		l.marker, l.first = mark, number
	}
	b := p.enter(item)
	c.next(size)
	b.indent = width + size + 1
	if spaces := c.indent(); empty {
		c.skip(spaces)
	} else if spaces > 4 {
		c.skip(1)
	} else {
		c.skip(spaces)
		b.indent = width + size + spaces
	}
	return true
}

// marker reads the marker of a list item: the bullet, or the delimiter after a number.
//
//go:noinline
func marker(b []byte) (mark byte, number, size int, ok bool) {
	if len(b) == 0 {
		return 0, 0, 0, false
	}
	switch b[0] {
	case '-', '+', '*':
		mark, size = b[0], 1
	default:
		for size < len(b) && size < 10 && isDigit(b[size]) {
			number = 10*number + int(b[size]-'0')
			size++
		}
		if size == 0 || size > 9 || size == len(b) || b[size] != '.' && b[size] != ')' {
			return 0, 0, 0, false
		}
		mark = b[size]
		size++
	}
	return mark, number, size, size == len(b) || isSpace(b[size])
}

// task removes the checkbox of a task from an item's first paragraph.
func (p *blockParser) task(b *block) {
	parent := p.open[len(p.open)-1]
	if parent.kind != item || parent.children[0] != b || len(b.text) < 4 || b.text[0] != '[' || b.text[2] != ']' || !isSpace(b.text[3]) {
		return
	}
	switch b.text[1] {
	case ' ':
		parent.task = 1
	case 'x', 'X':
		parent.task = 2
	default:
		return
	}
	b.text = trimLeft(b.text[3:])
}

// headingDepth reads the start of an ATX heading.
//
//go:noinline
func headingDepth(b []byte) (int, bool) {
	n := run(b, '#')
	return n, n > 0 && n <= 6 && (n == len(b) || isSpace(b[n]))
}

// underline returns the depth of the setext heading that b underlines, or 0.
//
//go:noinline
func underline(b []byte) int {
	if b[0] != '=' && b[0] != '-' || !isBlank(b[run(b, b[0]):]) {
		return 0
	}
	if b[0] == '=' {
		return 1
	}
	return 2
}

// isRule reports whether a line is a thematic break.
//
//go:noinline
func isRule(b []byte) bool {
	mark, n := b[0], 0
	if mark != '-' && mark != '*' && mark != '_' {
		return false
	}
	for _, c := range b {
		if c == mark {
			n++
		} else if !isSpace(c) {
			return false
		}
	}
	return n >= 3
}
