package runtime

import (
	"slices"
	"strconv"

	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// Classes of artifacts that the module knows.
const (
	classText     = "SpooledArtifact"
	classJSON     = "SpooledJsonArtifact"
	classMarkdown = "SpooledMarkdownArtifact"
)

// source is an artifact in a dispatch's context.
type source struct {
	id     string // callId, or callId#n for the n-th of a list
	class  string
	kind   record.Kind
	handle int64
	part   uint32
	body   record.Artifact
}

// same reports whether the tools made for one source serve the other.
func (s source) same(o source) bool { return s.id == o.id && s.class == o.class }

// artifacts is a dispatch's knowledge of the artifacts in its context and of the tools made to read them.
type artifacts struct {
	scans   [2]scan
	pending []int64 // retrievables whose text must be spooled
	kept    []int64 // retrievables that the host left unchanged

	// The state that forge left behind.
	registry *Registry
	groups   []*forgedGroup
	edits    uint32
	forged   bool

	changed bool // the set of artifacts has changed since forge ran
}

// Indices of scans.
const (
	sourcesCalled = 0 // results of tool calls
	sourcesFound  = 1 // contents of retrievables
)

var scanned = [2]record.Kind{record.ToolCalls, record.Retrievables}

// scan lists the artifacts of a collection as of the last look.
type scan struct {
	edits   uint32
	size    int
	sources []source
}

// scan brings one of the scans up to date and notes whether the set of artifacts has changed. It looks only at appended
// records, so that a long dispatch is not searched in every iteration.
func (d *Dispatch) scan(which int) {
	s, col := &d.artifacts.scans[which], &d.cols[scanned[which]]
	size := col.size()
	if s.edits == col.edits && s.size == size {
		return
	}
	from, before := s.size, s.sources
	if s.edits != col.edits || size < s.size {
		from, s.sources = 0, nil
		if which == sourcesFound {
			d.artifacts.pending = nil
		}
	}
	s.edits, s.size = col.edits, size
	col.eachFrom(from, func(handle int64) {
		body := d.turn.records.body(handle)
		if which == sourcesCalled {
			s.addCall(handle, body)
		} else if s.addFound(handle, body); unspooled(body) && !slices.Contains(d.artifacts.kept, handle) {
			d.artifacts.pending = append(d.artifacts.pending, handle)
		}
	})
	if !slices.EqualFunc(before, s.sources, source.same) {
		d.artifacts.changed = true
	}
}

func (s *scan) addCall(handle int64, body record.ToolCall) {
	results := body.Results()
	if len(results) == 0 || results[0] >= 0xa0 && results[0] < 0xdc || body.FromArtifactTool() {
		return // text, mostly
	}
	list := record.PartOf(results) == record.NoPart
	record.EachPart(results, func(i int, kind record.PartKind, part []byte) bool {
		if kind == record.ArtifactPart {
			id := string(body.ID())
			if list {
				id += "#" + strconv.Itoa(i)
			}
			s.sources = append(s.sources, source{
				id: id, class: string(record.Artifact(part).ClassName()), kind: record.ToolCalls, handle: handle, part: uint32(i), body: part,
			})
		}
		return true
	})
}

func (s *scan) addFound(handle int64, body record.Retrievable) {
	part := body.Part()
	if record.PartOf(part) != record.ArtifactPart || body.Inline() {
		return
	}
	s.sources = append(s.sources, source{
		id: string(body.ID()), class: string(record.Artifact(part).ClassName()), kind: record.Retrievables, handle: handle, body: part,
	})
}

// sources visits the artifacts of the dispatch in order: those of tool calls, then those of retrievables.
func (d *Dispatch) sources(yield func(s *source) bool) {
	for i := range d.artifacts.scans {
		list := d.artifacts.scans[i].sources
		for k := range list {
			if !yield(&list[k]) {
				return
			}
		}
	}
}

// find returns the current artifact with the id, or nil.
func (d *Dispatch) find(id []byte) (found *source) {
	d.scan(sourcesCalled)
	d.scan(sourcesFound)
	d.sources(func(s *source) bool {
		if s.id == string(id) {
			found = s
		}
		return found == nil
	})
	return found
}

// checkIDs rejects an id shared by a tool call's result and a retrievable.
func (d *Dispatch) checkIDs() error {
	called, found := d.artifacts.scans[sourcesCalled].sources, d.artifacts.scans[sourcesFound].sources
	if len(called) == 0 || len(found) == 0 {
		return nil
	}
	ids := make(map[string]bool, len(called))
	for i := range called {
		ids[called[i].id] = true
	}
	for i := range found {
		if ids[found[i].id] {
			return fault.New(fault.ArtifactIDCollision, found[i].id)
		}
	}
	return nil
}

// EachArtifactLine visits the lines of all artifacts in the tool calls or in the retrievables, in order, until yield
// returns false. id is the artifact's id in reader tools. A line is valid only during its visit.
func (d *Dispatch) EachArtifactLine(task Task, kind record.Kind, yield func(id string, i uint64, line []byte) bool) error {
	d.scan(sourcesCalled)
	d.scan(sourcesFound)
	var list []source // a copy: the sources change while lines are read
	d.sources(func(s *source) bool {
		if s.kind == kind {
			list = append(list, *s)
		}
		return true
	})
	more := true
	for i := 0; more && i < len(list); i++ {
		r := reader{task: task, d: d, source: list[i]}
		_, err := r.lines(0, maxLine, func(n uint64, line []byte) bool {
			more = yield(list[i].id, n, line)
			return more
		})
		if err != nil {
			return err
		}
	}
	return nil
}
