package conformance

import (
	"encoding/json"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
)

// instant is the time of all records.
var instant = time.UnixMilli(host.FixedTime).UTC()

// record returns the record that an argument describes: the name of one of the scenario's, which is one object, or
// {kind: id} or {kind: fields}, which is a fresh one each time.
func (g *game) record(arg any) any {
	if name, ok := arg.(string); ok {
		if r, there := g.records[name]; there {
			return r
		}
		spec, there := g.scenario.Records[name]
		if !there {
			panic(malformed("there is no record %q", name))
		}
		r := g.newRecord(spec)
		g.records[name] = r
		return r
	}
	return g.newRecord(arg)
}

func (g *game) newRecord(spec any) any {
	kind, value := only(spec)
	if kind == "instruction" {
		return record.NewInstruction(str(value))
	}
	given, ok := value.(map[string]any)
	if !ok {
		given = map[string]any{"id": str(value)}
	}
	f := fieldsOf(given)
	id := f.str("id", "")
	body, there := f.take("content")
	if !there {
		body = id
	}
	content, _ := body.(string)
	created, updated := moment(f, "createdAt"), moment(f, "updatedAt")
	defer f.end()
	switch kind {
	case "message":
		m := record.NewMessage(id, record.Role(f.str("role", "user")), content, created)
		if v, there := f.take("attachments"); there {
			m.Attachments, _ = g.part(v).([]*record.Media)
		}
		m.UpdatedAt, m.Identity = updated, identity(f)
		return m
	case "memory":
		m := record.NewMemory(id, content, number(f, "confidence", 0.5), number(f, "importance", 0.5), created)
		m.UpdatedAt = updated
		return m
	case "thought":
		t := record.NewThought(id, content, created)
		t.UpdatedAt, t.Identity, t.Payload = updated, identity(f), f.any("payload")
		t.ReplayCompatibility = f.str("replayCompatibility", "")
		return t
	case "retrievable":
		r := record.NewRetrievable(id, content, record.TrustTier(f.str("trustTier", "first-party")), created)
		r.UpdatedAt, r.Source, r.Kind, r.Inline = updated, f.str("source", ""), f.str("kind", ""), f.truth("inline")
		r.Content = g.part(body)
		if v, there := f.take("score"); there {
			score := v.(float64)
			r.Score = &score
		}
		return r
	case "toolCall":
		c := &record.ToolCall{
			ID: id, Tool: f.str("tool", "calc"), Checksum: f.str("checksum", id), IsComplete: true, Results: g.part(body),
			CreatedAt: created, UpdatedAt: updated, CompletedAt: created, Args: json.RawMessage("{}"),
			FromArtifactTool: f.truth("fromArtifactTool"), Inline: f.truth("inline"), IsError: f.truth("isError"),
		}
		if v, there := f.take("args"); there {
			c.Args = appendValue(nil, v)
		}
		c.Payload, c.ReplayCompatibility = f.any("payload"), f.str("replayCompatibility", "")
		return c
	}
	panic(malformed("%q is no kind of record", kind))
}

// only returns the one member of an object.
func only(v any) (string, any) {
	m, ok := v.(map[string]any)
	if !ok || len(m) != 1 {
		panic(malformed("%s is no object of one member", appendValue(nil, v)))
	}
	for name, value := range m {
		return name, value
	}
	panic("unreachable")
}

func moment(f *fields, name string) time.Time {
	if v, there := f.take(name); there {
		return time.UnixMilli(int64(v.(float64))).UTC()
	}
	return instant
}

func number(f *fields, name string, fallback float64) float64 {
	if v, there := f.take(name); there {
		return v.(float64)
	}
	return fallback
}

func identity(f *fields) *record.Identity {
	switch v, _ := f.take("identity"); v := v.(type) {
	case nil:
		return nil
	case string:
		return &record.Identity{Identifier: v, Representation: v}
	default:
		i := fieldsOf(v)
		defer i.end()
		return &record.Identity{Identifier: i.str("identifier", ""), Representation: i.str("representation", "")}
	}
}

// idOf returns a record's name in logs, and its text.
func idOf(r any) (id, content string) {
	switch r := r.(type) {
	case *record.Instruction:
		return r.Text, r.Text
	case *record.Message:
		return r.ID, r.Content
	case *record.Memory:
		return r.ID, r.Content
	case *record.Thought:
		return r.ID, r.Content
	case *record.Retrievable:
		return r.ID, shown(r.Content)
	case *record.ToolCall:
		return r.ID, shown(r.Results)
	}
	panic(malformed("a %T is no record", r))
}

func idsOf[R any](records []R) []any {
	all := make([]any, 0, len(records))
	for _, r := range records {
		id, _ := idOf(r)
		all = append(all, id)
	}
	return all
}

func contentsOf[R any](records []R) []any {
	all := make([]any, 0, len(records))
	for _, r := range records {
		_, content := idOf(r)
		all = append(all, content)
	}
	return all
}

// special returns the fields of a record that differ from the defaults of scenarios, but for its id and its content.
func special(r any) map[string]any {
	l := Line{}
	switch r := r.(type) {
	case *record.Message:
		l.unless("role", string(r.Role), "user")
		l.unless("attachments", shown(r.Attachments), "")
		l.identity(r.Identity, string(r.Role))
		l.times(r.CreatedAt, r.UpdatedAt)
	case *record.Memory:
		l.unless("confidence", r.Confidence, 0.5)
		l.unless("importance", r.Importance, 0.5)
		l.times(r.CreatedAt, r.UpdatedAt)
	case *record.Thought:
		l.identity(r.Identity, "assistant")
		l.unless("payload", plain(r.Payload), nil)
		l.unless("replayCompatibility", r.ReplayCompatibility, "")
		l.times(r.CreatedAt, r.UpdatedAt)
	case *record.Retrievable:
		l.unless("trustTier", string(r.TrustTier), "first-party")
		l.unless("source", r.Source, "")
		l.unless("kind", r.Kind, "")
		if r.Score != nil {
			l["score"] = *r.Score
		}
		l.unless("inline", r.Inline, false)
		l.times(r.CreatedAt, r.UpdatedAt)
	case *record.ToolCall:
		l.unless("tool", r.Tool, "calc")
		if args := plain(r.Args); len(args.(map[string]any)) > 0 {
			l["args"] = args
		}
		l.unless("checksum", r.Checksum, r.ID)
		l.unless("executionId", r.ExecutionID, "")
		l.unless("providerCallId", r.ProviderCallID, "")
		l.unless("isComplete", r.IsComplete, true)
		l.unless("isError", r.IsError, false)
		l.unless("payload", plain(r.Payload), nil)
		l.unless("replayCompatibility", r.ReplayCompatibility, "")
		l.unless("fromArtifactTool", r.FromArtifactTool, false)
		l.unless("inline", r.Inline, false)
		l.times(r.CreatedAt, r.UpdatedAt)
		l.unless("completedAt", r.CompletedAt.UnixMilli(), instant.UnixMilli())
	}
	return l
}

func (l Line) unless(name string, v, usual any) {
	if v != usual {
		l[name] = v
	}
}

func (l Line) times(created, updated time.Time) {
	l.unless("createdAt", created.UnixMilli(), instant.UnixMilli())
	l.unless("updatedAt", updated.UnixMilli(), instant.UnixMilli())
}

func (l Line) identity(i *record.Identity, usual string) {
	if i != nil && *i != (record.Identity{Identifier: usual, Representation: usual}) {
		l["identity"] = map[string]any{"identifier": i.Identifier, "representation": i.Representation}
	}
}
