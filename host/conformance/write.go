package conformance

import (
	"io"

	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

type bytesWriter interface {
	StoreMediaBytes(id string, bytes io.Reader) (record.MediaReader, error)
	StoreRetrievableBytes(id string, bytes io.Reader) (record.SpoolReader, error)
}

func store1(ctx writer, r any) error {
	switch r := r.(type) {
	case *record.Instruction:
		return ctx.StoreStandingInstruction(r.Text)
	case *record.Memory:
		return ctx.StoreMemory(r)
	case *record.Message:
		return ctx.StoreMessage(r)
	case *record.Thought:
		return ctx.StoreThought(r)
	case *record.Retrievable:
		_, err := ctx.StoreRetrievable(r)
		return err
	}
	return ctx.StoreToolCall(r.(*record.ToolCall))
}

func delete1(ctx writer, kind, id string) error {
	switch kind {
	case "instruction":
		return ctx.DeleteStandingInstruction(id)
	case "memory":
		return ctx.DeleteMemory(id)
	case "message":
		return ctx.DeleteMessage(id)
	case "thought":
		return ctx.DeleteThought(id)
	case "retrievable":
		return ctx.DeleteRetrievable(id)
	case "toolCall":
		return ctx.DeleteToolCall(id)
	}
	panic(malformed("%q is no kind of record", kind))
}

func add(ctx writer, r any) error {
	switch r := r.(type) {
	case *record.Instruction:
		return ctx.StandingInstructions().Add(r)
	case *record.Memory:
		return ctx.TurnMemories().Add(r)
	case *record.Message:
		return ctx.TurnMessages().Add(r)
	case *record.Thought:
		return ctx.TurnThoughts().Add(r)
	case *record.Retrievable:
		return ctx.TurnRetrievables().Add(r)
	}
	return ctx.TurnToolCalls().Add(r.(*record.ToolCall))
}

func remove(ctx writer, r any) bool {
	switch r := r.(type) {
	case *record.Instruction:
		return ctx.StandingInstructions().Remove(r)
	case *record.Memory:
		return ctx.TurnMemories().Remove(r)
	case *record.Message:
		return ctx.TurnMessages().Remove(r)
	case *record.Thought:
		return ctx.TurnThoughts().Remove(r)
	case *record.Retrievable:
		return ctx.TurnRetrievables().Remove(r)
	}
	return ctx.TurnToolCalls().Remove(r.(*record.ToolCall))
}

func clearAll(ctx writer, kind string) {
	switch kind {
	case "instructions":
		ctx.StandingInstructions().Clear()
	case "memories":
		ctx.TurnMemories().Clear()
	case "messages":
		ctx.TurnMessages().Clear()
	case "thoughts":
		ctx.TurnThoughts().Clear()
	case "retrievables":
		ctx.TurnRetrievables().Clear()
	case "toolCalls":
		ctx.TurnToolCalls().Clear()
	default:
		panic(malformed("%q are no kind of records", kind))
	}
}

// fetch gets records from storage and returns their ids; on request it adds them to the collection.
func (f *frame) fetch(kind string, load bool) (any, error) {
	ctx := f.inTurn()
	switch kind {
	case "instructions":
		texts, err := ctx.RefreshStandingInstructions()
		if err != nil {
			return nil, err
		}
		for _, text := range texts {
			if load {
				if err := ctx.StandingInstructions().Add(record.NewInstruction(text)); err != nil {
					return nil, err
				}
			}
		}
		return anyList(texts), nil
	case "memories":
		records, err := ctx.FetchMemories()
		return keepAll(ctx.TurnMemories(), records, load, err)
	case "messages":
		records, err := ctx.FetchMessages()
		return keepAll(ctx.TurnMessages(), records, load, err)
	case "thoughts":
		records, err := ctx.FetchThoughts()
		return keepAll(ctx.TurnThoughts(), records, load, err)
	case "retrievables":
		records, err := ctx.FetchRetrievables()
		return keepAll(ctx.TurnRetrievables(), records, load, err)
	case "toolCalls":
		records, err := ctx.FetchToolCalls()
		return keepAll(ctx.TurnToolCalls(), records, load, err)
	case "tools":
		tools, err := ctx.FetchTools()
		for _, t := range tools {
			if load && err == nil {
				err = ctx.Tools().Register(t, false)
			}
		}
		if err != nil {
			return nil, err
		}
		return toolNames(tools), nil
	}
	panic(malformed("%q are no kind of records", kind))
}

func keepAll[R record.Type](c *turns.Collection[R], records []R, load bool, err error) (any, error) {
	if err == nil && load {
		err = c.Add(records...)
	}
	if err != nil {
		return nil, err
	}
	return idsOf(records), nil
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
