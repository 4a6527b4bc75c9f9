package runtime

import (
	"strconv"
	"unicode/utf8"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

const (
	readBatch = 256 << 10 // most bytes of lines in one read
	maxRead   = 8 << 20   // most bytes of a text, or of one line, that the guest loads
	maxPage   = 128 << 10 // most bytes of a reader tool's answer
)

// readBound is how many bytes of a text, or of a line, the guest loads at once.
func (c *Config) readBound() int { return min(maxRead, c.frame()/4) }

// ReadBound is the largest number of bytes of a text that the guest reads at once: 8 MiB, or a quarter of the limit
// on frames.
func (d *Dispatch) ReadBound() int { return d.turn.config.readBound() }

// reader reads an artifact in parts, through effects.
type reader struct {
	task   Task
	d      *Dispatch
	source source

	batches int // number of batches read
}

func (r *reader) read(op ReadOp, from, to uint64, bound int) (*Read, error) {
	if r.d.aborted {
		return nil, errAborted()
	}
	e := &Read{Context: r.d.number, Handle: r.source.handle, Part: r.source.part, Op: op, From: from, To: to, Max: uint32(bound)}
	_, err := r.task.Await(e)
	return e, err
}

func errAborted() error {
	e := fault.Plain("the dispatch was aborted")
	e.Name, e.Abort = "AbortError", true
	return e
}

// size returns the artifact's length, from its hints if it has them.
func (r *reader) size() (bytes, lines uint64, err error) {
	if b, n := r.source.body.Bytes(), r.source.body.Lines(); b >= 0 && n >= 0 {
		return uint64(b), uint64(n), nil
	}
	e, err := r.read(ReadSize, 0, 0, 0)
	return e.sizes(err)
}

func (e *Read) sizes(err error) (bytes, lines uint64, _ error) {
	if err != nil {
		return 0, 0, err
	}
	return e.Bytes, e.Count, nil
}

// text returns the whole text; E_ARTIFACT_TOO_LARGE if it exceeds readBound.
func (r *reader) text() ([]byte, error) {
	bound := r.d.turn.config.readBound()
	e, err := r.read(ReadText, 0, 0, bound)
	if err != nil {
		return nil, err
	}
	if len(e.Lines) != 1 || len(e.Lines[0]) > bound {
		return nil, fault.New(fault.NotASpoolReader, "the whole text must be one string of at most "+strconv.Itoa(bound)+" bytes")
	}
	return e.Lines[0], nil
}

// readerOf returns a reader of the artifact, or of the host's text, at a place in a record.
func (d *Dispatch) readerOf(task Task, kind record.Kind, handle int64, part int) *reader {
	s := source{kind: kind, handle: handle, part: uint32(part)}
	body := d.turn.records.body(handle)
	content := record.Retrievable(body).Part()
	if kind == record.ToolCalls {
		content = record.ToolCall(body).Results()
	}
	record.EachPart(content, func(i int, _ record.PartKind, v []byte) bool {
		if i == part {
			s.body = v
		}
		return i < part
	})
	return &reader{task: task, d: d, source: s}
}

// ArtifactSize is the size of an artifact: by its index in the list of a tool call's results (0 for a single one), or
// in a retrievable's content (0).
func (d *Dispatch) ArtifactSize(task Task, kind record.Kind, handle int64, part int) (bytes, lines uint64, err error) {
	return d.readerOf(task, kind, handle, part).size()
}

// ArtifactText is the whole text of the artifact, or of a text that the host holds; E_ARTIFACT_TOO_LARGE if it exceeds
// ReadBound.
func (d *Dispatch) ArtifactText(task Task, kind record.Kind, handle int64, part int) ([]byte, error) {
	return d.readerOf(task, kind, handle, part).text()
}

// MediaSize is the size of a media in bytes, by its index in the list of a message's attachments or a tool call's
// results; -1 if unknown.
func (d *Dispatch) MediaSize(task Task, handle int64, part int) (int64, error) {
	r := &reader{task: task, d: d, source: source{handle: handle, part: uint32(part)}}
	e, err := r.read(ReadSize, 0, 0, 0)
	if err != nil || e.Count == 0 || e.Bytes > value.MaxInt {
		return -1, err
	}
	return int64(e.Bytes), nil
}

// lines visits the lines from from up to to, or to the end, until yield returns false, and returns the number of lines
// of the artifact. It reads them in batches. A line is valid only during its visit.
func (r *reader) lines(from, to uint64, yield func(i uint64, line []byte) bool) (count uint64, err error) {
	bound := r.d.turn.config.readBound()
	step := uint64(r.d.turn.config.array())
	for at := from; ; {
		if at >= to {
			return count, nil
		}
		e, err := r.read(ReadLines, at, min(to, at+step), min(readBatch, bound))
		if fault.Is(err, fault.ArtifactTooLarge) { // a line longer than a batch
			e, err = r.read(ReadLines, at, at+1, bound)
		}
		if err != nil {
			return 0, err
		}
		r.batches++
		count = e.Count
		to = min(to, count)
		if at < to && (len(e.Lines) == 0 || uint64(len(e.Lines)) > to-at) {
			return 0, fault.New(fault.NotASpoolReader, "line "+strconv.FormatUint(at, 10)+" of "+strconv.FormatUint(count, 10)+" could not be read")
		}
		for _, line := range e.Lines {
			if at >= to || !yield(at, line) {
				return count, nil
			}
			at++
		}
	}
}

// page is the answer of a reader tool, cut where it gets too long.
type page struct {
	text    []byte
	lines   int
	full    bool
	clipped bool // its only line is cut
}

// add adds a line and reports whether there is room for more. It cuts a first line that is too long.
func (p *page) add(line []byte) bool {
	if p.lines > 0 && len(p.text)+1+len(line) > maxPage {
		p.full = true
		return false
	}
	if p.lines > 0 {
		p.text = append(p.text, '\n')
	}
	p.lines++
	if len(line) > maxPage {
		p.text = append(append(p.text, ClipText(line, maxPage)...), "\n[The line is cut: it has "+strconv.Itoa(len(line))+" bytes.]"...)
		p.full, p.clipped = true, true
		return false
	}
	p.text = append(p.text, line...)
	return true
}

// ClipText cuts text to n bytes, or up to three fewer so that no character is split.
func ClipText(text []byte, n int) []byte {
	if len(text) <= n {
		return text
	}
	for i := 0; i < utf8.UTFMax-1 && n > 0 && !utf8.RuneStart(text[n]); i++ {
		n--
	}
	return text[:n]
}

// result returns the page's text. more tells the model what was left out.
func (p *page) result(more string) []byte {
	switch {
	case p.lines == 0:
		return []byte("(empty list)")
	case p.full && more != "":
		return append(p.text, "\n["+more+"]"...)
	}
	return p.text
}

// runReader runs a reader tool.
func (d *Dispatch) runReader(task Task, tool *readerTool, args []byte) ([]byte, error) {
	id, _ := value.GetString(args, "callId")
	s := d.find(id)
	if s == nil {
		return value.AppendString(nil, "Error: no artifact with id "+string(id)+" in this turn"), nil
	}
	text, err := tool.run(&reader{task: task, d: d, source: *s}, args)
	if err != nil {
		return nil, err
	}
	if len(text) > maxPage+256 {
		text = append(ClipText(text, maxPage), "\n[The result is cut: it has "+strconv.Itoa(len(text))+" bytes.]"...)
	}
	return value.AppendText(nil, text), nil
}
