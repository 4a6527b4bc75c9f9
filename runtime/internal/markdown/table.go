package markdown

import "bytes"

// startTable turns the open paragraph, a single line, into a table if b is the delimiter row below it.
func (p *blockParser) startTable(b []byte) bool {
	if b[0] != '|' && b[0] != ':' && b[0] != '-' || bytes.IndexByte(p.leaf.text, '\n') >= 0 || bytes.IndexByte(p.leaf.text, '|') < 0 && b[0] != '|' {
		return false
	}
	var align []byte
	for _, c := range cells(b) {
		left, right := len(c) > 0 && c[0] == ':', len(c) > 1 && c[len(c)-1] == ':'
		dashes := c
		if left {
			dashes = dashes[1:]
		}
		if right {
			dashes = dashes[:len(dashes)-1]
		}
		if len(dashes) == 0 || run(dashes, '-') != len(dashes) {
			return false
		}
		switch {
		case left && right:
			align = append(align, 'c')
		case left:
			align = append(align, 'l')
		case right:
			align = append(align, 'r')
		default:
			align = append(align, 0)
		}
	}
	header := p.leaf.text
	if len(cells(header)) != len(align) {
		return false
	}
	t := p.leaf
	t.kind, t.info, t.text, t.end = table, align, nil, p.line
	p.line--
	p.row(header)
	p.line++
	return true
}

// row adds a row to the open table.
func (p *blockParser) row(b []byte) {
	if p.nodes++; p.nodes > MaxNodes {
		p.err = ErrTooLarge
		return
	}
	r := &block{kind: row, start: p.line, end: p.line, text: bytes.Clone(b)}
	p.leaf.children = append(p.leaf.children, r)
}

// cells splits a row of a table at its unescaped bars.
//
//go:noinline
func cells(b []byte) [][]byte {
	b = trim(b)
	if len(b) > 0 && b[0] == '|' {
		b = b[1:]
	}
	var all [][]byte
	start := 0
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' {
			i++
		} else if b[i] == '|' {
			all = append(all, trim(b[start:i]))
			start = i + 1
		}
	}
	if rest := trim(b[start:]); len(rest) > 0 || len(all) == 0 {
		all = append(all, rest)
	}
	return all
}
