package markdown

import (
	"bytes"

	"github.com/turncore/turncore/runtime/value"
)

// writeBlock appends a block and what it holds. The head of its map is a byte whatever it counts, up to 15, and is
// written again when the fields are there.
func (d *Document) writeBlock(dst []byte, b *block) []byte {
	n, start := 0, len(dst)
	body := value.AppendMapHeader(dst, 0)
	add := func(name string) {
		body = value.AppendString(body, name)
		n++
	}
	add("type")
	body = value.AppendString(body, names[b.kind])
	switch b.kind {
	case heading:
		add("depth")
		body = value.AppendInt(body, int64(b.depth))
	case list:
		ordered := b.marker == '.' || b.marker == ')'
		add("ordered")
		body = value.AppendBool(body, ordered)
		add("start")
		if body = value.AppendNil(body); ordered {
			body = value.AppendInt(body[:len(body)-1], int64(b.first))
		}
		add("spread")
		body = value.AppendBool(body, spread(b))
	case item:
		add("spread")
		body = value.AppendBool(body, spread(b))
		add("checked")
		if body = value.AppendNil(body); b.task > 0 {
			body = value.AppendBool(body[:len(body)-1], b.task == 2)
		}
	case fenced, indented:
		lang := firstWord(b.info)
		add("lang")
		body = textOrNil(body, unescape(lang))
		add("meta")
		body = textOrNil(body, unescape(bytes.TrimSpace(b.info[len(lang):])))
	case definition:
		add("identifier")
		body = value.AppendString(body, normalize(b.target.label))
		add("label")
		body = value.AppendText(body, unescape(b.target.label))
		body = b.target.write(body, &n)
	case table:
		add("align")
		body = value.AppendListHeader(body, len(b.info))
		for _, c := range b.info {
			switch c {
			case 'l':
				body = value.AppendString(body, "left")
			case 'r':
				body = value.AppendString(body, "right")
			case 'c':
				body = value.AppendString(body, "center")
			default:
				body = value.AppendNil(body)
			}
		}
	}
	switch b.kind {
	case fenced, indented, htmlBlock, frontMatter:
		add("value")
		body = value.AppendText(body, b.text)
	case paragraph, heading:
		add("children")
		p := d.inline(b.text)
		body = p.write(body, p.spans[0].next)
	case row:
		add("children")
		all := cells(b.text)
		body = value.AppendListHeader(body, len(all))
		for _, cell := range all {
			body = field(value.AppendMapHeader(body, 2), "type", "tableCell")
			p := d.inline(cell)
			body = p.write(value.AppendString(body, "children"), p.spans[0].next)
		}
	case root, quote, list, item, table:
		add("children")
		body = value.AppendListHeader(body, len(b.children))
		for _, child := range b.children {
			body = d.writeBlock(body, child)
		}
	}
	if b.kind != root && b.kind != row {
		n += 2
		body = number(number(body, "startLine", b.start), "endLine", b.end)
	}
	value.AppendMapHeader(body[:start], n)
	return body
}

// spread tells whether there is a blank line between the children of a list or an item.
func spread(b *block) bool {
	for i := 1; i < len(b.children); i++ {
		if b.children[i].start > b.children[i-1].end+1 {
			return true
		}
	}
	return false
}

// write appends the fields of a target and counts them.
func (t *target) write(dst []byte, n *int) []byte {
	*n++
	dst = value.AppendText(value.AppendString(dst, "url"), t.url)
	if t.titled {
		*n++
		dst = value.AppendText(value.AppendString(dst, "title"), t.title)
	}
	return dst
}

// write appends the list of spans from one on. Texts side by side are one.
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
			dst = field(value.AppendMapHeader(dst, 2), "type", "text")
			dst = value.AppendText(value.AppendString(dst, "value"), room)
		}
	}
	return dst
}

func (p *inlineParser) writeSpan(dst []byte, s *span) []byte {
	n, start := 1, len(dst)
	dst = field(value.AppendMapHeader(dst, 0), "type", names[s.kind])
	if s.target != nil {
		dst = s.target.write(dst, &n)
	}
	switch s.kind {
	case inlineCode, inlineHTML:
		n++
		dst = value.AppendText(value.AppendString(dst, "value"), s.text)
	case image:
		n++
		dst = value.AppendText(value.AppendString(dst, "alt"), p.plainText(nil, s.child))
	case emphasis, strong, deleted, link:
		n++
		dst = p.write(value.AppendString(dst, "children"), s.child)
	}
	value.AppendMapHeader(dst[:start], n)
	return dst
}

// plainText appends the text of spans from one on, without markup.
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
		p := d.inline(b.text)
		dst = p.plainText(newLine(dst), p.spans[0].next)
	case row:
		dst = newLine(dst)
		for i, cell := range cells(b.text) {
			if i > 0 {
				dst = append(dst, '\t')
			}
			p := d.inline(cell)
			dst = p.plainText(dst, p.spans[0].next)
		}
	case fenced, indented:
		dst = append(newLine(dst), b.text...)
	case htmlBlock:
		if inner := bytes.TrimSpace(stripTags(b.text)); len(inner) > 0 {
			dst = append(newLine(dst), inner...)
		}
	default:
		for _, child := range b.children {
			dst = d.plain(dst, child)
		}
	}
	return dst
}

func newLine(dst []byte) []byte {
	if len(dst) > 0 {
		dst = append(dst, '\n')
	}
	return dst
}

// stripTags returns what is left of HTML without tags and comments.
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

// collect is the list of all links or images, with their text under a name.
func (d *Document) collect(k kind, name string) ([]byte, error) {
	n := 0
	var body []byte
	var spans func(p *inlineParser, first int)
	spans = func(p *inlineParser, first int) {
		for at := first; at > 0; at = p.spans[at].next {
			s := &p.spans[at]
			if s.kind == k {
				n++
				fields := 1
				one := s.target.write(value.AppendText(value.AppendString(nil, name), p.plainText(nil, s.child)), &fields)
				body = append(value.AppendMapHeader(body, fields), one...)
			}
			spans(p, s.child)
		}
	}
	var blocks func(b *block)
	blocks = func(b *block) {
		switch b.kind {
		case paragraph, heading:
			p := d.inline(b.text)
			spans(p, p.spans[0].next)
		case row:
			for _, cell := range cells(b.text) {
				p := d.inline(cell)
				spans(p, p.spans[0].next)
			}
		}
		for _, child := range b.children {
			blocks(child)
		}
	}
	blocks(d.root)
	return append(value.AppendListHeader(nil, n), body...), d.err
}
