package provider

import (
	"strings"

	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/value"
)

// AppendSchema implements chat.Shaper. It goes into the option output_config, beside what else that has. The API refuses
// keywords that it does not know, so they are left out there, and the prompt tells the whole schema.
func (anthropic) AppendSchema(dst []byte, h *chat.Head, schema []byte) (out []byte, seen bool) {
	dst, free := appendBeside(append(dst, '{'), h.Member("output_config"), "format")
	if !free || !isObjectSchema(schema) || !canClose(schema) {
		return nil, false
	}
	dst = append(chat.AppendComma(dst), `"format":{"type":"json_schema","schema":`...)
	return append(appendClosed(dst, schema), `}}`...), hasOnly(schema, closedKeywords+"additionalProperties required ")
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
		if !hasAny(schema, "properties") || value.KindOf(more) == value.KindMap {
			return false
		}
	}
	return parts(schema, canClose)
}

// appendClosed appends a schema without the keywords that the API refuses, where objects have no properties but those that
// are named.
func appendClosed(dst, schema []byte) []byte {
	dst = append(dst, '{')
	_ = value.Each(schema, func(key, v []byte) bool {
		name := string(key)
		if name == "oneOf" {
			name = "anyOf"
		}
		if name == "required" || name == "additionalProperties" || !strings.Contains(closedKeywords, " "+name+" ") {
			return true
		}
		dst = append(value.AppendJSONString(chat.AppendComma(dst), []byte(name)), ':')
		switch name {
		case "properties":
			dst = append(dst, '{')
			_ = value.Each(v, func(key, inner []byte) bool {
				dst = append(value.AppendJSONString(chat.AppendComma(dst), key), ':')
				dst = appendClosed(dst, inner)
				return true
			})
			dst = append(dst, '}')
		case "anyOf", "allOf":
			dst = append(dst, '[')
			_ = value.EachItem(v, func(_ int, inner []byte) bool {
				dst = appendClosed(chat.AppendComma(dst), inner)
				return true
			})
			dst = append(dst, ']')
		case "items":
			dst = appendClosed(dst, v)
		default:
			dst = appendJSON(dst, v)
		}
		return true
	})
	if hasType(schema, "object") {
		if required, _ := value.Get(schema, "required"); required != nil {
			dst = appendJSON(append(dst, `,"required":`...), required)
		}
		dst = append(dst, `,"additionalProperties":false`...)
	}
	return append(dst, '}')
}

// appendJSON appends a value that is known to be well-formed.
func appendJSON(dst, v []byte) []byte {
	text, err := value.AppendJSON(dst, v)
	if err != nil {
		return dst
	}
	return text
}
