package turns

import (
	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/record"
)

// store is MethodStore and MethodMutate.
func (b *base) store(method uint8, r record.Record, old string) error {
	_, err := b.state.Store(method, r, old)
	return err
}

// StoreStandingInstruction adds a standing instruction.
func (b *base) StoreStandingInstruction(text string) error {
	return b.store(abi.MethodStore, record.NewInstruction(text), "")
}

// MutateStandingInstruction replaces the standing instruction whose text is old.
func (b *base) MutateStandingInstruction(old, text string) error {
	return b.store(abi.MethodMutate, record.NewInstruction(text), old)
}

// DeleteStandingInstruction deletes the standing instruction with the given text.
func (b *base) DeleteStandingInstruction(text string) error {
	return b.state.Delete(abi.CollectionInstructions, text)
}

// StoreMemory adds a memory.
func (b *base) StoreMemory(m *record.Memory) error { return b.store(abi.MethodStore, m, "") }

// MutateMemory replaces the memory with the same id.
func (b *base) MutateMemory(m *record.Memory) error { return b.store(abi.MethodMutate, m, "") }

// DeleteMemory deletes the memory with the given id.
func (b *base) DeleteMemory(id string) error { return b.state.Delete(abi.CollectionMemories, id) }

// StoreRetrievable adds a retrieved document and returns the stored one: a text that is not inline is spooled first.
// The id of a tool call fails with E_ARTIFACT_ID_COLLISION.
func (b *base) StoreRetrievable(r *record.Retrievable) (*record.Retrievable, error) {
	return b.state.StoreFound(abi.MethodStore, r)
}

// MutateRetrievable replaces the document with the same id and returns the new one, like StoreRetrievable.
func (b *base) MutateRetrievable(r *record.Retrievable) (*record.Retrievable, error) {
	return b.state.StoreFound(abi.MethodMutate, r)
}

// DeleteRetrievable deletes the document with the given id.
func (b *base) DeleteRetrievable(id string) error {
	return b.state.Delete(abi.CollectionRetrievables, id)
}

// StoreMessage adds a message.
func (b *base) StoreMessage(m *record.Message) error { return b.store(abi.MethodStore, m, "") }

// MutateMessage replaces the message with the same id.
func (b *base) MutateMessage(m *record.Message) error { return b.store(abi.MethodMutate, m, "") }

// DeleteMessage deletes the message with the given id.
func (b *base) DeleteMessage(id string) error { return b.state.Delete(abi.CollectionMessages, id) }

// StoreThought adds a thought.
func (b *base) StoreThought(t *record.Thought) error { return b.store(abi.MethodStore, t, "") }

// MutateThought replaces the thought with the same id.
func (b *base) MutateThought(t *record.Thought) error { return b.store(abi.MethodMutate, t, "") }

// DeleteThought deletes the thought with the given id.
func (b *base) DeleteThought(id string) error { return b.state.Delete(abi.CollectionThoughts, id) }

// StoreToolCall adds a completed tool call. The id of a retrieved document fails with E_ARTIFACT_ID_COLLISION.
func (b *base) StoreToolCall(c *record.ToolCall) error { return b.store(abi.MethodStore, c, "") }

// MutateToolCall replaces the tool call with the same id.
func (b *base) MutateToolCall(c *record.ToolCall) error { return b.store(abi.MethodMutate, c, "") }

// DeleteToolCall deletes the tool call with the given id.
func (b *base) DeleteToolCall(id string) error { return b.state.Delete(abi.CollectionToolCalls, id) }

// ReplaceToolCallGroup replaces the tool calls with the given ids.
func (b *base) ReplaceToolCallGroup(ids []string, replacements []*record.ToolCall) error {
	return b.state.ReplaceGroup(ids, replacements)
}

// ToolCallCount is the number of current tool calls with a checksum: how often the model has made the same call.
func (c *DispatchContext) ToolCallCount(checksum string) (int, error) {
	return c.state.ToolCallCount(checksum)
}

// Commit writes the iteration's queue to storage, and returns when storage has it. A later nack does not undo it.
func (c *DispatchContext) Commit() error {
	_, err := c.state.Invoke(abi.MethodCommit, nil)
	return err
}
