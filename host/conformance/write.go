package conformance

import (
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// fetch gets records from storage and returns their ids; on request it adds them to the collection.
func (f *frame) fetch(name string, load bool) (any, error) {
	ctx := f.inTurn()
	if name != "tools" {
		return named(name).fetch(ctx, load)
	}
	tools, err := ctx.FetchTools()
	for _, t := range tools {
		if load && err == nil {
			err = ctx.Tools().Register(t, false)
		}
	}
	return toolNames(tools), err
}

// make makes a record, without its place in a turn, and returns what it holds.
func (g *game) make(arg any) (any, error) {
	if given := fieldsOf(arg); given.has("artifact") {
		a := g.artifact(given)
		given.end()
		if err := a.Validate(); err != nil {
			return nil, err
		}
		return shown(a), nil
	}
	if kind, value := only(arg); kind == "tool" {
		t := g.tool(str(value))
		if err := t.Validate(); err != nil {
			return nil, err
		}
		collision := map[turns.Collision]string{turns.CollisionThrow: "throw", turns.CollisionReplace: "replace", turns.CollisionKeep: "keep"}
		meta := plain(t.Meta)
		if meta == nil {
			meta = map[string]any{}
		}
		return map[string]any{"name": t.Name, "ephemeral": t.Ephemeral, "trusted": t.Trusted, "onCollision": collision[t.OnCollision], "meta": meta}, nil
	}
	if kind, value := only(arg); kind == "media" {
		m := g.newMedia(value)
		return map[string]any{
			"kind": string(m.Kind), "mimeType": m.MimeType, "filename": m.Filename,
			"trustTier": string(m.TrustTier), "modalityHazard": string(m.ModalityHazard),
		}, m.Validate()
	}
	switch r := g.newRecord(arg).(type) {
	case *record.Message:
		return map[string]any{"id": r.ID, "role": string(r.Role), "content": r.Content, "attachments": shown(r.Attachments)}, r.Validate()
	case *record.Memory:
		return map[string]any{"id": r.ID, "confidence": r.Confidence, "importance": r.Importance}, r.Validate()
	case *record.Thought:
		return map[string]any{"id": r.ID, "content": r.Content}, r.Validate()
	case *record.Retrievable:
		return map[string]any{"id": r.ID, "content": shown(r.Content), "trustTier": string(r.TrustTier), "inline": r.Inline, "sizeUnknown": r.SizeUnknown()}, r.Validate()
	case *record.ToolCall:
		return map[string]any{"id": r.ID, "args": plain(r.Args), "inline": r.Inline, "fromArtifactTool": r.FromArtifactTool}, r.Validate()
	}
	panic(malformed("make makes records and tools"))
}
