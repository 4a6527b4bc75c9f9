package provider

import (
	"bytes"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/chat"
)

// AppendSchema implements chat.Shaper. It goes into the option output_config, beside what else that has. The API
// refuses keywords that it does not know, so they are left out there, and the prompt tells the whole schema.
func (anthropic) AppendSchema(dst []byte, h *chat.Head, schema []byte) (out []byte, seen bool) {
	dst, free := appendBeside(append(dst, '{'), h.Member("output_config"), "format")
	if !free || !isObjectSchema(schema) || !canClose(schema) {
		return nil, false
	}
	dst = append(chat.AppendComma(dst), `"format":{"type":"json_schema","schema":`...)
	return append(appendClosed(dst, schema, closedKeywords), `}}`...), hasOnly(schema, closedKeywords+"additionalProperties required ")
}

// Keywords of schemas that the API takes, beside those of objects that appendClosed writes itself.
const closedKeywords = " type title description enum const anyOf allOf items properties "

// canClose tells whether the API can be asked for what a schema wants: something is said of every value, nothing by
// reference, and objects have properties.
func canClose(schema []byte) bool {
	switch {
	case value.KindOf(schema) != value.KindMap || hasAny(schema, "$ref"):
		return false
	case !hasAny(schema, "type", "enum", "const", "anyOf", "oneOf", "allOf"):
		return false
	case hasType(schema, "object"):
		more, _ := value.Get(schema, "additionalProperties")
		if !namesProperties(schema) || value.KindOf(more) == value.KindMap {
			return false
		}
	}
	return parts(schema, canClose)
}

// appendBlocks appends a text, unless it is blank, and media as a list of content blocks.
func appendBlocks(dst, text []byte, media []*chat.UnitMedia) []byte {
	dst = append(dst, '[')
	if len(bytes.TrimSpace(text)) > 0 {
		dst = appendTextPart(dst, "text", text)
	}
	for _, m := range media {
		dst = append(appendTextPart(dst, "text", m.Note), `,{"type":"`...)
		dst = append(append(dst, m.Kind...), `","source":{"type":"`...)
		if m.URI != nil {
			dst = append(chat.AppendMember(append(dst, `url"`...), "url", m.URI), `}}`...)
			continue
		}
		dst = m.AppendData(append(chat.AppendMember(append(dst, `base64"`...), "media_type", m.MimeType), `,"data":"`...))
		dst = append(dst, `"}`...)
		if m.Kind == "document" && len(m.Filename) > 0 {
			dst = chat.AppendMember(dst, "title", m.Filename)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}
