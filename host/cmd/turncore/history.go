package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/turncore/turncore/host/recording"
	"github.com/turncore/turncore/host/turns"
)

// store puts what was said before the user's message into a store, a millisecond apart and before now.
func (p *player) store(store turns.Store, now int64) error {
	var writes []turns.Delta
	history := p.conversation.History
	message, group := map[int]string{}, map[int]string{} // by the number of the recorded message
	for i, entry := range history {
		at := time.UnixMilli(now - int64(len(history)-i)).UTC()
		if entry.Call == nil {
			m := turns.NewMessage(fmt.Sprintf("history.%d", i), turns.Role(entry.Role), entry.Content, at)
			message[entry.Message] = m.ID
			writes = append(writes, turns.Delta{Op: turns.StoreOp, Kind: "message", ID: m.ID, Record: m})
			continue
		}
		call, err := pastCall(entry.Call, at)
		if err != nil {
			return fmt.Errorf("tool call %s of the recorded history: %w", entry.Call.ID, err)
		}
		// This is how the chat executor notes which calls were made by one answer.
		if group[entry.Message] == "" {
			group[entry.Message] = call.ID
		}
		payload := map[string]any{"group": group[entry.Message]}
		if id := message[entry.Message]; id != "" {
			payload["message"] = id
		}
		call.Payload, call.ReplayCompatibility = payload, "chat-completions-v1"
		if err := call.Validate(); err != nil {
			return fmt.Errorf("tool call %s of the recorded history: %w", entry.Call.ID, err)
		}
		writes = append(writes, turns.Delta{Op: turns.StoreOp, Kind: "toolCall", ID: call.ID, Record: call})
	}
	return store.Apply(context.Background(), "", writes)
}

// pastCall is a recorded call as a record.
func pastCall(c *recording.Call, at time.Time) (*turns.ToolCall, error) {
	text := c.Args
	if len(text) == 0 {
		text = json.RawMessage("{}")
	}
	sum, err := turns.ToolCallChecksum(c.Tool, text)
	if err != nil {
		return nil, err
	}
	return &turns.ToolCall{
		ID: c.ID, Tool: c.Tool, Args: text, Checksum: sum, IsComplete: true, Results: c.Result,
		CreatedAt: at, UpdatedAt: at, CompletedAt: at,
	}, nil
}
