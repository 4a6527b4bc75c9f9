package provider

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/chat"
)

// AppendSchema implements chat.Shaper. Models before Gemini 3 refuse a schema beside tools.
func (gemini) AppendSchema(dst []byte, h *chat.Head, schema []byte) (out []byte, seen bool) {
	taken := false
	for _, name := range [...]string{"responseMimeType", "responseJsonSchema", "responseSchema"} {
		taken = taken || h.Has(name)
		inner := value.NewScanner(h.Member("generationConfig"))
		for key := range inner.Members() {
			taken = taken || string(key) == name
		}
	}
	if taken {
		return nil, false
	}
	return appendSchema(dst, schema), hasOnly(schema, geminiKeywords)
}

// Keywords of schemas that the API reads; it passes over others.
const geminiKeywords = " $id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems minimum maximum anyOf oneOf" +
	" properties additionalProperties required propertyOrdering $schema "
