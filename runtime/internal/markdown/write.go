package markdown

import (
	"bytes"

	"github.com/turncore/turncore/abi/value"
)

// fields writes a map. Its header is one byte for up to 15 fields; end sets it to the count.
type fields struct {
	dst      []byte
	start, n int
}

//go:noinline
func startFields(dst []byte, kind string) *fields {
	f := &fields{dst: value.AppendMapHeader(dst, 0), start: len(dst)}
	f.key("type")
	f.dst = value.AppendString(f.dst, kind)
	return f
}

//go:noinline
func (f *fields) key(name string) {
	f.dst = value.AppendString(f.dst, name)
	f.n++
}

//go:noinline
func (f *fields) text(name string, v []byte) {
	f.key(name)
	f.dst = value.AppendText(f.dst, v)
}

// some writes a text, or null if it is empty.
//
//go:noinline
func (f *fields) some(name string, v []byte) {
	f.key(name)
	f.dst = textOrNil(f.dst, v)
}

//go:noinline
func (f *fields) int(name string, n int) {
	f.key(name)
	f.dst = value.AppendInt(f.dst, int64(n))
}

//go:noinline
func (f *fields) bool(name string, v bool) {
	f.key(name)
	f.dst = value.AppendBool(f.dst, v)
}

func (f *fields) null(name string) {
	f.key(name)
	f.dst = value.AppendNil(f.dst)
}

//go:noinline
func (f *fields) target(t *target) {
	f.text("url", t.url)
	if t.titled {
		f.text("title", t.title)
	}
}

//go:noinline
func (f *fields) end() []byte {
	value.AppendMapHeader(f.dst[:f.start], f.n)
	return f.dst
}

// writeBlock appends a block with its contents.
func (d *Document) writeBlock(dst []byte, b *block) []byte {
	f := startFields(dst, names[b.kind])
	switch b.kind {
	case heading:
		f.int("depth", b.depth)
	case list:
		ordered := b.marker == '.' || b.marker == ')'
		f.bool("ordered", ordered)
		if ordered {
			f.int("start", b.first)
		} else {
			f.null("start")
		}
		f.bool("spread", spread(b))
	case item:
		f.bool("spread", spread(b))
		if b.task > 0 {
			f.bool("checked", b.task == 2)
		} else {
			f.null("checked")
		}
	case fenced, indented:
		lang := firstWord(b.info)
		f.some("lang", unescape(lang))
		f.some("meta", unescape(trim(b.info[len(lang):])))
	case definition:
		f.text("identifier", []byte(normalize(b.target.label)))
		f.text("label", unescape(b.target.label))
		f.target(b.target)
	case table:
		f.key("align")
		f.dst = value.AppendListHeader(f.dst, len(b.info))
		for _, c := range b.info {
			var name string
			switch c {
			case 'l':
				name = "left"
			case 'r':
				name = "right"
			case 'c':
				name = "center"
			}
			f.dst = textOrNil(f.dst, []byte(name))
		}
	}
	switch b.kind {
	case fenced, indented, htmlBlock, frontMatter:
		f.text("value", b.text)
	case paragraph, heading:
		f.key("children")
		f.dst = d.writeInline(f.dst, b.text)
	case row:
		f.key("children")
		all := cells(b.text)
		f.dst = value.AppendListHeader(f.dst, len(all))
		for _, cell := range all {
			c := startFields(f.dst, "tableCell")
			c.key("children")
			c.dst = d.writeInline(c.dst, cell)
			f.dst = c.end()
		}
	case root, quote, list, item, table:
		f.key("children")
		f.dst = value.AppendListHeader(f.dst, len(b.children))
		for _, child := range b.children {
			f.dst = d.writeBlock(f.dst, child)
		}
	}
	if b.kind != root && b.kind != row {
		f.int("startLine", b.start)
		f.int("endLine", b.end)
	}
	return f.end()
}

//go:noinline
func (d *Document) writeInline(dst, source []byte) []byte {
	p := d.inline(source)
	return p.write(dst, p.spans[0].next)
}

// spread reports whether a blank line separates the children of a list or an item.
func spread(b *block) bool {
	for i := 1; i < len(b.children); i++ {
		if b.children[i].start > b.children[i-1].end+1 {
			return true
		}
	}
	return false
}

// write appends the list of spans starting with first. It joins adjacent texts.
func (p *inlineParser) write(dst []byte, first int) []byte {
	n, inText := 0, false
	for at := first; at > 0; at = p.spans[at].next {
		if s := &p.spans[at]; s.kind != text {
			n++
			inText = false
		} else if len(s.text) > 0 && !inText {
			n++
			inText = true
		}
	}
	dst = value.AppendListHeader(dst, n)
	var room []byte
	for at := first; at > 0; {
		s := &p.spans[at]
		if s.kind != text {
			dst = p.writeSpan(dst, s)
			at = s.next
			continue
		}
		room = room[:0]
		for ; at > 0 && p.spans[at].kind == text; at = p.spans[at].next {
			room = append(room, p.spans[at].text...)
		}
		if len(room) > 0 {
			f := startFields(dst, "text")
			f.text("value", room)
			dst = f.end()
		}
	}
	return dst
}

func (p *inlineParser) writeSpan(dst []byte, s *span) []byte {
	f := startFields(dst, names[s.kind])
	if s.target != nil {
		f.target(s.target)
	}
	switch s.kind {
	case inlineCode, inlineHTML:
		f.text("value", s.text)
	case image:
		f.text("alt", p.plainText(nil, s.child))
	case emphasis, strong, deleted, link:
		f.key("children")
		f.dst = p.write(f.dst, s.child)
	}
	return f.end()
}

// plainText appends the text of the spans starting with first, without markup.
func (p *inlineParser) plainText(dst []byte, first int) []byte {
	for at := first; at > 0; at = p.spans[at].next {
		switch s := &p.spans[at]; s.kind {
		case text, inlineCode:
			dst = append(dst, s.text...)
		case lineBreak:
			dst = append(dst, '\n')
		case inlineHTML:
		default:
			dst = p.plainText(dst, s.child)
		}
	}
	return dst
}

// plain appends the text of a block, without markup.
func (d *Document) plain(dst []byte, b *block) []byte {
	switch b.kind {
	case paragraph, heading:
		dst = d.plainInline(newLine(dst), b.text)
	case row:
		dst = newLine(dst)
		for i, cell := range cells(b.text) {
			if i > 0 {
				dst = append(dst, '\t')
			}
			dst = d.plainInline(dst, cell)
		}
	case fenced, indented:
		dst = append(newLine(dst), b.text...)
	case htmlBlock:
		if inner := trim(stripTags(b.text)); len(inner) > 0 {
			dst = append(newLine(dst), inner...)
		}
	}
	for _, child := range b.children {
		dst = d.plain(dst, child)
	}
	return dst
}

//go:noinline
func (d *Document) plainInline(dst, source []byte) []byte {
	p := d.inline(source)
	return p.plainText(dst, p.spans[0].next)
}

//go:noinline
func newLine(dst []byte) []byte {
	if len(dst) > 0 {
		dst = append(dst, '\n')
	}
	return dst
}

// stripTags removes tags and comments from HTML.
//
//go:noinline
func stripTags(b []byte) []byte {
	var out []byte
	for len(b) > 0 {
		start := bytes.IndexByte(b, '<')
		if start < 0 {
			return append(out, b...)
		}
		out = append(out, b[:start]...)
		b = b[start:]
		closing := []byte(">")
		if bytes.HasPrefix(b, []byte("<!--")) {
			closing = []byte("-->")
		}
		end := bytes.Index(b, closing)
		if end < 0 {
			return append(out, b...)
		}
		b = b[end+len(closing):]
	}
	return out
}

// collector lists links or images.
type collector struct {
	d    *Document
	kind kind
	name string // field name of their text
	list []byte
	n    int
}

// collect lists all links or images; name is the field of their text.
func (d *Document) collect(k kind, name string) ([]byte, error) {
	c := collector{d: d, kind: k, name: name}
	c.block(d.root)
	return append(value.AppendListHeader(nil, c.n), c.list...), d.err
}

func (c *collector) block(b *block) {
	switch b.kind {
	case paragraph, heading:
		c.inline(b.text)
	case row:
		for _, cell := range cells(b.text) {
			c.inline(cell)
		}
	}
	for _, child := range b.children {
		c.block(child)
	}
}

func (c *collector) inline(source []byte) {
	p := c.d.inline(source)
	c.spans(p, p.spans[0].next)
}

func (c *collector) spans(p *inlineParser, first int) {
	for at := first; at > 0; at = p.spans[at].next {
		s := &p.spans[at]
		if s.kind == c.kind {
			c.n++
			f := fields{dst: value.AppendMapHeader(c.list, 0), start: len(c.list)}
			f.text(c.name, p.plainText(nil, s.child))
			f.target(s.target)
			c.list = f.end()
		}
		c.spans(p, s.child)
	}
}
