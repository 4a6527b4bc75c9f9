package runtime

import (
	"slices"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
)

// maxOffered is how many ids the reader tools offer; the latest ones win.
const maxOffered = 4096

// readerTool describes a tool that reads artifacts.
type readerTool struct {
	name, description string
	// JSON: the properties of its arguments besides callId, and the names of the required ones.
	properties string
	required   []string
	run        func(r *reader, args []byte) (text []byte, err error)
}

// readerGroup holds the reader tools for a class of artifacts.
type readerGroup struct {
	class string // empty for all classes
	tools []readerTool
}

// readerGroups holds the tools that the module makes, in the order of registration.
var readerGroups = []*readerGroup{&textTools}

// ReaderTools returns the names of the tools that read artifacts of a class, in order: first those of the class, then
// those of all classes.
func ReaderTools(class string) (names []string) {
	for _, own := range [2]bool{true, false} {
		for _, g := range readerGroups {
			for i := range g.tools {
				if g.class == class && own || g.class == "" && !own {
					names = append(names, g.tools[i].name)
				}
			}
		}
	}
	return names
}

// forgedGroup holds the tools made from a group for some artifacts.
type forgedGroup struct {
	group *readerGroup
	ids   []string
	tools []*Tool
}

// forge replaces the ephemeral tools by tools that read the artifacts in the dispatch's context, at the start of an
// iteration. It does nothing if neither artifacts nor tools have changed.
func (d *Dispatch) forge(task Task) error {
	a := &d.artifacts
	if err := d.spoolPending(task); err != nil {
		return err
	}
	d.scan(sourcesCalled)
	if a.forged && !a.changed && a.registry == d.registry && a.edits == d.registry.edits {
		return nil
	}
	a.changed = false
	if err := d.checkIDs(); err != nil {
		return err
	}
	var classes []string // classes that the host defines
	any := false
	d.sources(func(s *source) bool {
		any = true
		if s.class != classText && s.class != classJSON && s.class != classMarkdown && !slices.Contains(classes, s.class) {
			classes = append(classes, s.class)
		}
		return true
	})
	if any || d.registry.ephemeral() {
		d.register(d.forgeGroups())
	}
	if len(classes) > 0 {
		if _, err := task.Await(&Forge{Context: d.number, Classes: classes}); err != nil {
			return err
		}
	}
	a.forged, a.registry, a.edits = true, d.registry, d.registry.edits
	return nil
}

// forgeGroups returns the reader tools for the current artifacts. It reuses the tools it made for the same artifacts.
func (d *Dispatch) forgeGroups() (tools []*Tool) {
	a := &d.artifacts
	groups := make([]*forgedGroup, 0, len(readerGroups))
	for _, g := range readerGroups {
		ids := d.offered(g.class)
		if len(ids) == 0 {
			continue
		}
		var f *forgedGroup
		for _, old := range a.groups {
			if old.group == g && slices.Equal(old.ids, ids) {
				f = old
			}
		}
		if f == nil {
			f = &forgedGroup{group: g, ids: ids}
			for i := range g.tools {
				f.tools = append(f.tools, d.makeReader(&g.tools[i], ids))
			}
		}
		groups = append(groups, f)
		tools = append(tools, f.tools...)
	}
	for _, old := range a.groups {
		if !slices.Contains(groups, old) {
			for _, t := range old.tools {
				t.InputSchema, t.compiled = nil, nil // calls of an old tool go to its successor
			}
		}
	}
	a.groups = groups
	return tools
}

// offered lists the ids of the artifacts of a class in order, without duplicates.
func (d *Dispatch) offered(class string) (ids []string) {
	seen := make(map[string]bool)
	d.sources(func(s *source) bool {
		if (class == "" || class == s.class) && !seen[s.id] {
			seen[s.id] = true
			ids = append(ids, s.id)
		}
		return true
	})
	limit := min(maxOffered, d.turn.config.array())
	size, room := 0, d.turn.config.frame()/8
	for i := len(ids) - 1; i >= 0; i-- {
		if size += len(ids[i]) + 8; size > room || len(ids)-i > limit {
			return ids[i+1:]
		}
	}
	return ids
}

// makeReader makes a tool that the guest runs, and announces it to the host.
func (d *Dispatch) makeReader(r *readerTool, ids []string) *Tool {
	t := d.turn
	tool := &Tool{
		Number: firstMade + uint32(len(t.made)), Name: r.name, Description: r.description, InputSchema: r.schema(ids),
		Ephemeral: true, Artifact: true, reader: r,
	}
	tool.Handler = func(task Task, d *Dispatch, args []byte) ([]byte, error) { return d.runReader(task, r, args) }
	t.made = append(t.made, tool)
	t.world.Sync(Sync{Context: d.number, Kind: KindTools, Op: SyncDefine, Tool: tool})
	return tool
}

// schema describes the tool's arguments when the artifacts with these ids can be read.
func (r *readerTool) schema(ids []string) []byte {
	text := []byte(`{"type":"object","properties":{"callId":{"type":"string","description":"The id of the artifact.","enum":[`)
	for i, id := range ids {
		if i > 0 {
			text = append(text, ',')
		}
		text = value.AppendJSONString(text, id)
	}
	text = append(text, `]}`...)
	if r.properties != "" {
		text = append(append(text, ','), r.properties...)
	}
	text = append(text, `},"required":["callId"`...)
	for _, name := range r.required {
		text = value.AppendJSONString(append(text, ','), name)
	}
	schema, err := value.FromJSON(nil, append(text, `],"additionalProperties":false}`...))
	if err != nil {
		panic("runtime: " + r.name + ": " + err.Error())
	}
	return schema
}

// register puts reader tools behind the tools that stay. If the user has a tool of the same name, the user's wins, with
// one warning.
func (d *Dispatch) register(forged []*Tool) {
	tools := d.pruneEphemeral()
	own := len(tools)
	for _, tool := range forged {
		if slices.ContainsFunc(tools[:own], func(t *Tool) bool { return t.Name == tool.Name }) {
			d.warn("artifact-tool-shadowed", tool.Name, "artifacts cannot be read with "+tool.Name+": you have a tool of that name")
			continue
		}
		tools = append(tools, tool)
	}
	d.setTools(tools)
}

// warn reports a warning about a tool, once per dispatch.
func (d *Dispatch) warn(kind, tool, message string) {
	payload := value.AppendString(value.AppendString(value.AppendMapHeader(nil, 1), "tool"), tool)
	d.turn.Warn(d.number, tool, &WarningEvent{Kind: kind, Message: message, Payload: payload})
}

// readerTool returns the dispatch's current version of a reader tool that the caller may have kept from earlier.
func (d *Dispatch) readerTool(tool *Tool) (*Tool, error) {
	for _, f := range d.artifacts.groups {
		for _, t := range f.tools {
			if t.reader != tool.reader {
				continue
			}
			if t.compiled == nil {
				if err := t.Compile(); err != nil {
					return nil, err
				}
			}
			return t, nil
		}
	}
	return nil, fault.New(fault.InvalidToolArgs, tool.Name+": no artifact of this dispatch can be read with it")
}

func (c *Config) frame() int {
	if c.Frame > 0 {
		return c.Frame
	}
	return 16 << 20
}

func (c *Config) array() int {
	if c.Array > 0 {
		return c.Array
	}
	return 8192
}
