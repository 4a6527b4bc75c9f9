package chat

import (
	"bytes"
	"sort"

	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/record"
)

// projection renders a dispatch's context into requests. The messages are the last member of a request, and the text of
// the previous request is kept: the next one is that text with more messages appended, as long as nobody changed
// earlier records. Endpoints that cache prompts by prefix benefit, and rendering costs less.
type projection struct {
	sources [3]source // of the timeline, in the order of equal times
	line    []item    // the timeline, with the bodies of this request's records
	done    []int64   // handles of the timeline's items in body
	units   []unit    // units of the timeline in body
	head    int       // bytes of body before the timeline
	body    []byte
	splices []runtime.Splice // of body
	// Texts that represent artifacts, and sizes of media, from the host.
	artifacts map[place]string
	sizes     map[place]int64 // bytes; -1 for unknown
	latest    int64           // handle of the newest thought, if only that one goes back; 0 for none
	nonces    map[recordKey]string
	found     []item // scratch
	note      []byte // scratch
	repair    []byte // scratch

	system []byte   // text of the last request
	spans  []span   // of system
	prefix []byte   // scratch
	text   []byte   // scratch
	tools  []byte   // scratch
	unit   Unit     // scratch
	names  []string // tools that the prompt describes
}

// recordKey names a record of the dispatch.
type recordKey struct {
	kind   record.Kind
	handle int64
}

// source is a collection in the timeline.
type source struct {
	kind    record.Kind
	items   []item
	known   bool   // the items are those of that version and size
	version uint32 // of the collection at the last visit
	size    int    // of the collection at the last visit
	merged  int    // items already in the timeline
}

// item is a record of the timeline.
type item struct {
	kind   record.Kind
	handle int64
	at     int64
	body   []byte
}

// span is the part of the system text that represents a record.
type span struct {
	handle     int64
	start, end int
}

// unit is one or more messages of the request for neighbours in the timeline: a record, or an answer with its calls.
type unit struct {
	first int // index of the first item
	start int // offset in body
}

// request renders the body of a request, valid until the next one. It fails if an artifact cannot be read.
func (p *projection) request(e *Executor, d Dispatch) ([]byte, error) {
	if err := p.describeFound(d); err != nil {
		return nil, err
	}
	o := &e.options
	p.tools = e.appendTools(p.tools[:0], d)
	offers := len(p.tools) > 0
	p.spans = p.spans[:0]
	p.system = p.appendSystemText(p.system[:0], d, o)
	head := o.head
	if o.dialect != nil {
		told := o.dialect.Tell(d, p.tools)
		head.Grammar, head.Schema, p.names = told.Grammar, told.Schema, told.Names
		if told.InText {
			p.tools = p.tools[:0]
		}
		if len(told.Text) > 0 {
			p.system = append(appendBlankLine(p.system), told.Text...)
		}
	}
	native, told := o.output.inRequest(offers && (o.protocol.SchemaAlone || len(p.tools) == 0))
	if native != nil {
		head.Schema = native
	}
	if told {
		p.system = o.output.tell(p.system, offers)
	}
	head.System, head.Tools = p.system, p.tools
	if len(p.tools) > 0 {
		head.ToolOnly = o.toolOnly
	}
	p.prefix = o.provider.AppendHead(p.prefix[:0], &head)
	same := p.collect(o, d)
	if !bytes.Equal(p.body[:p.head], p.prefix) {
		p.body = append(p.body[:0], p.prefix...)
		p.head = len(p.prefix)
		p.done, p.units, p.splices = p.done[:0], p.units[:0], p.splices[:0]
	}
	from := p.rewind(p.rewindTo(o), same)
	if err := p.describeLine(o, d, from); err != nil {
		return nil, err
	}
	p.extend(o, d, from)
	return append(p.body, o.protocol.Close...), nil
}

// appendTools appends the definitions of the visible tools.
func (e *Executor) appendTools(dst []byte, d Dispatch) []byte {
	o := &e.options
	d.Tools(func(t *runtime.Tool) bool {
		if len(dst) > 0 {
			dst = append(dst, ',')
		}
		if t.Number > maxSharedTool {
			dst = o.provider.AppendTool(dst, t, o.extras[t.Name])
			return true
		}
		text, ok := e.tools[t.Number]
		if !ok {
			text = o.provider.AppendTool(nil, t, o.extras[t.Name])
			e.tools[t.Number] = text
		}
		dst = append(dst, text...)
		return true
	})
	return dst
}

// maxSharedTool is the highest number of a tool that all turns of a runner share.
const maxSharedTool = 65_535

// collect builds the timeline: messages, tool calls and, if they are sent, thoughts, ordered by time. Records of the
// same time keep the order of their collection; messages come before thoughts, and thoughts before calls. It makes
// later stamps follow all of them, whatever the clock says. It returns how many items at the start are unchanged since
// the last time.
func (p *projection) collect(o *options, d Dispatch) (same int) {
	grown := true
	for i, kind := range [...]record.Kind{record.Messages, record.Thoughts, record.ToolCalls} {
		s := &p.sources[i]
		s.kind = kind
		if kind == record.Thoughts && o.thoughts.form == thoughtsOff && o.protocol.Reasoning == "" {
			continue
		}
		grown = s.visit(o, d) && grown
		if n := len(s.items); n > 0 {
			d.Floor(s.items[n-1].at)
		}
	}
	if grown && p.follows() {
		same = len(p.line)
	} else {
		p.line = p.line[:0]
		for i := range p.sources {
			p.sources[i].merged = 0
		}
	}
	p.merge()
	return same
}

// follows reports whether all new items belong behind the timeline.
func (p *projection) follows() bool {
	n := len(p.line)
	if n == 0 {
		return true
	}
	last, behind := p.line[n-1], false
	for i := range p.sources {
		s := &p.sources[i]
		behind = behind || s.kind == last.kind // from this kind on, equal times are in order
		if s.merged == len(s.items) {
			continue
		}
		if next := s.items[s.merged]; next.at < last.at || next.at == last.at && !behind {
			return false
		}
	}
	return true
}

// merge adds the new items to the timeline. Each source is sorted.
func (p *projection) merge() {
	for {
		best := -1
		for i := range p.sources {
			s := &p.sources[i]
			if s.merged < len(s.items) && (best < 0 || s.items[s.merged].at < p.sources[best].items[p.sources[best].merged].at) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		s := &p.sources[best]
		p.line = append(p.line, s.items[s.merged])
		s.merged++
	}
}

// visit reads the collection, sorted by time and without thoughts that are not sent, and reports whether it has only
// grown.
func (s *source) visit(o *options, d Dispatch) (grown bool) {
	version, size := d.Version(s.kind)
	grown = s.known && s.version == version && size >= s.size
	if !grown {
		s.items, s.size = s.items[:0], 0
	}
	sorted := true
	d.RecordsFrom(s.kind, s.size, func(handle int64, body []byte) {
		if s.kind == record.Thoughts && o.thoughts.form == thoughtsOff && !o.isNative(body) {
			return
		}
		it := item{kind: s.kind, handle: handle, body: body, at: record.CreatedAt(s.kind, body)}
		n := len(s.items)
		sorted = sorted && (n == 0 || s.items[n-1].at <= it.at)
		s.items = append(s.items, it)
	})
	s.known, s.version, s.size = size >= 0, version, max(size, 0)
	if sorted {
		return grown
	}
	sort.SliceStable(s.items, func(i, j int) bool { return s.items[i].at < s.items[j].at })
	return false
}

// rewind removes everything from body after the first item that has changed, or after the first most items. The first
// same items are known to be unchanged. It returns the first item of the timeline to render.
func (p *projection) rewind(most, same int) (from int) {
	most = min(most, len(p.done))
	same = min(same, most)
	for same < most && same < len(p.line) && p.done[same] == p.line[same].handle {
		same++
	}
	// Render the unit before the first difference again, too: what follows may have become a part of it.
	for len(p.units) > 0 {
		last := p.units[len(p.units)-1]
		p.units = p.units[:len(p.units)-1]
		p.body = p.body[:last.start]
		if last.first < same {
			from = last.first
			break
		}
	}
	p.done = p.done[:from]
	for n := len(p.splices); n > 0 && p.splices[n-1].At > len(p.body); n = len(p.splices) {
		p.splices = p.splices[:n-1]
	}
	return from
}

// extend renders the timeline from an item on into body.
func (p *projection) extend(o *options, d Dispatch, from int) {
	for i := from; i < len(p.line); {
		p.units = append(p.units, unit{first: i, start: len(p.body)})
		var filled bool
		if i, filled = p.fill(o, d, i); filled {
			var results *Unit
			if o.dialect != nil && len(p.unit.Calls) > 0 {
				results = o.dialect.Flatten(&p.unit)
			}
			p.body = o.provider.AppendUnit(p.body, &p.unit)
			p.placeMedia(&p.unit, o.medias.max)
			if results != nil {
				p.body = o.provider.AppendUnit(p.body, results)
				p.placeMedia(results, o.medias.max)
			}
		}
	}
	for _, it := range p.line[from:] {
		p.done = append(p.done, it.handle)
	}
}
