package sse

import "bytes"

// lines splits bytes that come in pieces into lines that end with CR, LF or both.
type lines struct {
	rest []byte // the beginning of the current line; what begins a line may be taken by its reader
	cr   bool   // the bytes so far ended with CR: an LF that follows belongs to it
	any  bool   // bytes have come
}

var mark = []byte("\xef\xbb\xbf")

// split calls each for every line that ends in b, without its end.
func (l *lines) split(b []byte, each func(line []byte) error) error {
	if len(b) == 0 {
		return nil
	}
	if l.cr && b[0] == '\n' {
		b = b[1:]
	}
	l.cr = false
	for {
		end := bytes.IndexAny(b, "\r\n")
		if end < 0 {
			l.rest = append(l.rest, b...)
			l.skipMark()
			return nil
		}
		line := b[:end]
		if len(l.rest) > 0 || !l.any {
			l.rest = append(l.rest, line...)
			l.skipMark()
			line = l.rest
		}
		l.rest, l.any = nil, true
		next := end + 1
		if b[end] == '\r' {
			if next == len(b) {
				l.cr = true
			} else if b[next] == '\n' {
				next++
			}
		}
		b = b[next:]
		if err := each(line); err != nil {
			return err
		}
	}
}

// skipMark drops a byte order mark at the beginning of the stream.
func (l *lines) skipMark() {
	if !l.any {
		if rest, found := bytes.CutPrefix(l.rest, mark); found {
			l.rest, l.any = rest, true
		} else if !bytes.HasPrefix(mark, l.rest) {
			l.any = true
		}
	}
}
