package record

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/internal/wire"
)

func (*Instruction) kind() Kind { return KindInstruction }
func (*Memory) kind() Kind      { return KindMemory }
func (*Retrievable) kind() Kind { return KindRetrievable }
func (*Message) kind() Kind     { return KindMessage }
func (*Thought) kind() Kind     { return KindThought }
func (*ToolCall) kind() Kind    { return KindToolCall }

// Append appends the encoding of a valid record, as the ABI has it. What readers give is not in it: of artifacts and
// media there is what is known without reading them.
func Append(dst []byte, r Record) ([]byte, error) { return r.appendBody(dst) }

func appendTimes(dst []byte, times ...time.Time) []byte {
	for _, t := range times {
		dst = value.AppendInt(dst, t.UnixMilli())
	}
	return dst
}

func appendOptional(dst []byte, s string) []byte {
	if s == "" {
		return value.AppendNil(dst)
	}
	return value.AppendString(dst, s)
}

func appendIdentity(dst []byte, i *Identity) []byte {
	if i == nil {
		return value.AppendNil(dst)
	}
	dst = value.AppendListHeader(dst, 2)
	return value.AppendString(value.AppendString(dst, i.Identifier), i.Representation)
}

func (i *Instruction) appendBody(dst []byte) ([]byte, error) {
	return value.AppendString(dst, i.Text), nil
}

func (m *Message) appendBody(dst []byte) ([]byte, error) {
	dst = value.AppendListHeader(dst, 7)
	content, err := m.ContentString()
	if err != nil {
		return nil, err
	}
	dst = value.AppendString(value.AppendString(dst, m.ID), string(m.Role))
	dst = appendOptional(dst, content)
	dst = appendIdentity(dst, m.Identity)
	dst = appendTimes(dst, m.CreatedAt, m.UpdatedAt)
	if len(m.Attachments) == 0 {
		return value.AppendNil(dst), nil
	}
	return appendMedia(dst, m.Attachments)
}

func appendMedia(dst []byte, list []*Media) (_ []byte, err error) {
	dst = value.AppendListHeader(dst, len(list))
	for _, m := range list {
		if dst, err = m.appendPart(dst); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// AppendResults appends the encoding of valid results of a tool call.
func AppendResults(dst []byte, results any) ([]byte, error) {
	switch r := results.(type) {
	case *SpooledArtifact:
		return r.appendPart(dst), nil
	case []*SpooledArtifact:
		dst = value.AppendListHeader(dst, len(r))
		for _, a := range r {
			dst = a.appendPart(dst)
		}
		return dst, nil
	case *Media:
		return r.appendPart(dst)
	case []*Media:
		return appendMedia(dst, r)
	case *Tokenizable:
		text, err := r.Render(context.Background())
		return value.AppendString(dst, text), err
	}
	text, _ := results.(string)
	return value.AppendString(dst, text), nil
}

func (m *Memory) appendBody(dst []byte) ([]byte, error) {
	content, err := m.ContentString()
	if err != nil {
		return nil, err
	}
	dst = value.AppendListHeader(dst, 6)
	dst = value.AppendString(value.AppendString(dst, m.ID), content)
	dst = value.AppendFloat(value.AppendFloat(dst, m.Confidence), m.Importance)
	return appendTimes(dst, m.CreatedAt, m.UpdatedAt), nil
}

func (t *Thought) appendBody(dst []byte) ([]byte, error) {
	content, err := t.ContentString()
	if err != nil {
		return nil, err
	}
	dst = value.AppendListHeader(dst, 7)
	dst = value.AppendString(value.AppendString(dst, t.ID), content)
	dst = appendIdentity(dst, t.Identity)
	dst, err = appendPayload(dst, t.Payload, t.sent)
	if err != nil {
		return nil, err
	}
	return appendTimes(appendOptional(dst, t.ReplayCompatibility), t.CreatedAt, t.UpdatedAt), nil
}

func (c *ToolCall) appendBody(dst []byte) ([]byte, error) {
	dst = value.AppendListHeader(dst, 16)
	dst = value.AppendString(value.AppendString(dst, c.ID), c.Tool)
	dst, err := wire.FromJSON(dst, c.Args)
	if err != nil {
		return nil, fmt.Errorf("args: %w", err)
	}
	dst = value.AppendString(dst, c.Checksum)
	dst = appendOptional(appendOptional(dst, c.ExecutionID), c.ProviderCallID)
	dst = value.AppendBool(value.AppendBool(dst, c.IsComplete), c.IsError)
	if dst, err = AppendResults(dst, c.Results); err != nil {
		return nil, err
	}
	if dst, err = appendPayload(dst, c.Payload, c.sent); err != nil {
		return nil, err
	}
	dst = appendOptional(dst, c.ReplayCompatibility)
	dst = value.AppendBool(value.AppendBool(dst, c.FromArtifactTool), c.Inline)
	return appendTimes(dst, c.CreatedAt, c.UpdatedAt, c.CompletedAt), nil
}

func (r *Retrievable) appendBody(dst []byte) ([]byte, error) {
	dst = value.AppendListHeader(dst, 9)
	dst = value.AppendString(dst, r.ID)
	text, static := StaticText(r.Content)
	switch content := r.Content.(type) {
	case *SpooledArtifact:
		dst = content.appendPart(dst)
	case string, *Tokenizable:
		if t, ok := content.(*Tokenizable); ok && !static {
			var err error
			if text, err = t.Render(context.Background()); err != nil {
				return nil, err
			}
		}
		if r.Inline || !static {
			dst = value.AppendString(dst, text)
			break
		}
		// The text itself stays here until it is spooled.
		dst = value.AppendInt(value.AppendInt(value.AppendListHeader(dst, 2), int64(abi.PartText)), int64(len(text)))
	}
	dst = value.AppendString(dst, string(r.TrustTier))
	dst = appendOptional(appendOptional(dst, r.Source), r.Kind)
	if r.Score == nil {
		dst = value.AppendNil(dst)
	} else {
		dst = value.AppendFloat(dst, *r.Score)
	}
	return appendTimes(value.AppendBool(dst, r.Inline), r.CreatedAt, r.UpdatedAt), nil
}

// decodePayload returns a payload from the core as plain data, and its encoding when that says more: in which order the
// members stand, which a provider is to get them back in.
func decodePayload(raw abi.Raw) (payload any, sent abi.Raw, err error) {
	payload, err = wire.Plain(raw)
	switch payload.(type) {
	case []any, map[string]any:
		sent = bytes.Clone(raw)
	}
	return payload, sent, err
}

// plainOf is a payload from the core as plain data.
func plainOf(sent abi.Raw) any {
	v, err := wire.Plain(sent)
	if err != nil {
		return nil
	}
	return v
}

// appendPayload appends a payload: as the core sent it, unless it was changed since.
func appendPayload(dst []byte, payload any, sent abi.Raw) ([]byte, error) {
	if sent != nil && reflect.DeepEqual(payload, plainOf(sent)) {
		return append(dst, sent...), nil
	}
	return wire.Append(dst, payload, "payload")
}

// Decode makes the record that an encoding describes. It undoes [Append] for what the core makes: artifacts and media
// come without a reader, a spooled text as its text.
func Decode(kind Kind, body []byte) (r Record, err error) {
	switch kind {
	case KindInstruction:
		in := abi.NewReader(body)
		text := string(in.Text())
		return &Instruction{Text: text}, in.Err()
	case KindMemory:
		b, fault := abi.Decode[abi.Memory](body)
		err = fault
		r = &Memory{
			ID: b.ID, Content: b.Content, Confidence: b.Confidence, Importance: b.Importance,
			CreatedAt: instant(b.CreatedAt), UpdatedAt: instant(b.UpdatedAt),
		}
	case KindRetrievable:
		b, fault := abi.Decode[abi.Retrievable](body)
		err = fault
		content := abi.NewReader(b.Content)
		text := string(content.Text())
		if err == nil {
			err = content.Err()
		}
		r = &Retrievable{
			ID: b.ID, Content: text, TrustTier: TrustTier(b.TrustTier), Source: optional(b.Source), Kind: optional(b.Kind),
			Score: b.Score, Inline: b.Inline, CreatedAt: instant(b.CreatedAt), UpdatedAt: instant(b.UpdatedAt),
		}
	case KindMessage:
		b, fault := abi.Decode[abi.Message](body)
		err = fault
		r = &Message{
			ID: b.ID, Role: Role(b.Role), Content: optional(b.Content), Identity: identity(b.Identity),
			CreatedAt: instant(b.CreatedAt), UpdatedAt: instant(b.UpdatedAt),
		}
	case KindThought:
		b, fault := abi.Decode[abi.Thought](body)
		err = fault
		t := &Thought{
			ID: b.ID, Content: b.Content, Identity: identity(b.Identity), ReplayCompatibility: optional(b.ReplayCompatibility),
			CreatedAt: instant(b.CreatedAt), UpdatedAt: instant(b.UpdatedAt),
		}
		if err == nil {
			t.Payload, t.sent, err = decodePayload(b.Payload)
		}
		r = t
	case KindToolCall:
		return decodeToolCall(body)
	default:
		err = fmt.Errorf("%d is no kind of record", kind)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

func decodeToolCall(body []byte) (Record, error) {
	b, err := abi.Decode[abi.ToolCall](body)
	if err != nil {
		return nil, err
	}
	c := &ToolCall{
		ID: b.ID, Tool: b.Tool, Checksum: b.Checksum, ExecutionID: optional(b.ExecutionID),
		ProviderCallID: optional(b.ProviderCallID), IsComplete: b.IsComplete, IsError: b.IsError,
		ReplayCompatibility: optional(b.ReplayCompatibility), FromArtifactTool: b.FromArtifactTool, Inline: b.Inline,
		CreatedAt: instant(b.CreatedAt), UpdatedAt: instant(b.UpdatedAt), CompletedAt: instant(b.CompletedAt),
	}
	if c.Args, err = wire.JSON(b.Args); err != nil {
		return nil, err
	}
	if c.Payload, c.sent, err = decodePayload(b.Payload); err != nil {
		return nil, err
	}
	c.Results, err = textOf(b.Results)
	return c, err
}

// textOf is an encoded value as a model reads it: text as it is, anything else as JSON, nothing for nil.
func textOf(raw []byte) (string, error) {
	if wire.IsNil(raw) {
		return "", nil
	}
	if s, ok := value.String(raw); ok {
		return value.UTF8(string(s)), nil
	}
	text, err := wire.JSON(raw)
	return string(text), err
}

func instant(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func optional(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func identity(i *abi.Identity) *Identity {
	if i == nil {
		return nil
	}
	return &Identity{Identifier: i.Identifier, Representation: i.Representation}
}
