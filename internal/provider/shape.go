package provider

import (
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/chat"
)

// schemaName is what APIs that want a name for the schema of an answer are told.
const schemaName = "answer"

// isObjectSchema tells whether a schema is one of objects, by its type: OpenAI takes no other one for an answer.
func isObjectSchema(schema []byte) bool {
	text, _ := value.GetString(schema, "type")
	return string(text) == "object" && !hasAny(schema, "anyOf")
}

// appendNamedSchema appends the schema of an answer as members, like OpenAI has them. It is strict where it can be.
func appendNamedSchema(dst, schema []byte) []byte {
	dst = append(dst, `"name":"`+schemaName+`","strict":`...)
	if isStrict(schema) {
		return appendClosed(append(dst, `true,"schema":`...), schema, strictKeywords)
	}
	return appendSchema(append(dst, `false,"schema":`...), schema)
}

// appendClosed appends a schema without keywords but these, where objects have no properties but those that are named.
func appendClosed(dst, schema []byte, keywords string) []byte {
	dst = append(dst, '{')
	_ = value.Each(schema, func(key, v []byte) bool {
		name := string(key)
		if name == "oneOf" {
			name = "anyOf" // what matches one of them is checked later
		}
		if name != "required" && name != "additionalProperties" && strings.Contains(keywords, " "+name+" ") {
			dst = appendKeyword(dst, name, v, func(dst, inner []byte) []byte { return appendClosed(dst, inner, keywords) })
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

// appendParameters appends the schema of a tool's arguments in the form that OpenAI takes: it refuses objects that do
// not say which properties they have, and lists that do not say of what, where JSON Schema leaves both open.
func appendParameters(dst, schema []byte) []byte {
	if kind := value.KindOf(schema); kind == value.KindBool {
		return appendJSON(dst, schema)
	} else if kind != value.KindMap {
		return appendSchema(dst, schema)
	}
	dst = append(dst, '{')
	_ = value.Each(schema, func(key, v []byte) bool {
		dst = appendKeyword(dst, string(key), v, appendParameters)
		return true
	})
	for _, lacks := range [...][2]string{{"object", "properties"}, {"array", "items"}} {
		if hasType(schema, lacks[0]) && !hasAny(schema, lacks[1]) {
			dst = append(append(append(chat.AppendComma(dst), '"'), lacks[1]...), `":{}`...)
		}
	}
	return append(dst, '}')
}

// appendKeyword appends a member of a schema. The schemas in it are appended by inner, which gets other values too
// where they stand in the place of one.
func appendKeyword(dst []byte, name string, v []byte, inner func(dst, schema []byte) []byte) []byte {
	dst = append(value.AppendJSONString(chat.AppendComma(dst), name), ':')
	kind := value.KindOf(v)
	switch name {
	case "properties", "$defs", "definitions":
		if kind == value.KindMap {
			dst = append(dst, '{')
			_ = value.Each(v, func(key, v []byte) bool {
				dst = inner(append(value.AppendJSONText(chat.AppendComma(dst), key), ':'), v)
				return true
			})
			return append(dst, '}')
		}
	case "anyOf", "oneOf", "allOf":
		if kind == value.KindList {
			dst = append(dst, '[')
			_ = value.EachItem(v, func(_ int, v []byte) bool {
				dst = inner(chat.AppendComma(dst), v)
				return true
			})
			return append(dst, ']')
		}
	case "items", "additionalProperties":
		if kind == value.KindMap {
			return inner(dst, v)
		}
	}
	return appendJSON(dst, v)
}

// appendJSON appends a value that is known to be well-formed.
func appendJSON(dst, v []byte) []byte {
	text, err := value.AppendJSON(dst, v)
	if err != nil {
		return dst
	}
	return text
}

// parts visits the schemas inside of a schema. It stops, and returns false, where fn does.
func parts(schema []byte, fn func(inner []byte) bool) bool {
	ok := true
	one := func(inner []byte) bool {
		ok = ok && fn(inner)
		return ok
	}
	_ = value.Each(schema, func(key, v []byte) bool {
		switch string(key) {
		case "properties", "$defs", "definitions", "patternProperties", "dependentSchemas":
			_ = value.Each(v, func(_, inner []byte) bool { return one(inner) })
		case "anyOf", "oneOf", "allOf", "prefixItems":
			_ = value.EachItem(v, func(_ int, inner []byte) bool { return one(inner) })
		case "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames":
			if value.KindOf(v) == value.KindMap {
				one(v)
			}
		}
		return ok
	})
	return ok
}

// hasOnly tells whether a schema, and all inside of it, have no keywords but these.
func hasOnly(schema []byte, keywords string) bool {
	known := value.KindOf(schema) == value.KindMap
	_ = value.Each(schema, func(key, _ []byte) bool {
		known = known && strings.Contains(keywords, " "+string(key)+" ")
		return known
	})
	return known && parts(schema, func(inner []byte) bool { return hasOnly(inner, keywords) })
}

// Keywords that OpenAI's strict schemas may have.
const strictKeywords = " $schema $id $ref title description type required additionalProperties enum const pattern format multipleOf maximum" +
	" exclusiveMaximum minimum exclusiveMinimum minItems maxItems properties items anyOf $defs definitions "

// isStrict tells whether a schema is one that OpenAI takes as strict: no keyword says more than OpenAI reads, every
// value is of some type, and every object has all of its properties. It may have others unless the schema says so; the
// model is not asked for them.
func isStrict(schema []byte) bool { return hasOnly(schema, strictKeywords) && isClosed(schema) }

func isClosed(schema []byte) bool {
	switch {
	case !hasAny(schema, "type", "$ref", "enum", "const", "anyOf"), hasType(schema, "object") && !hasAll(schema),
		hasType(schema, "array") && !hasAny(schema, "items"):
		return false
	case hasAny(schema, "$ref"): // nothing may stand beside it
		n := 0
		_ = value.Each(schema, func(_, _ []byte) bool { n++; return true })
		if n > 1 {
			return false
		}
	case hasAny(schema, "format"):
		format, _ := value.GetString(schema, "format")
		if !strings.Contains(strictFormats, " "+string(format)+" ") {
			return false
		}
	}
	return parts(schema, isClosed)
}

// Formats that texts of OpenAI's strict schemas may have.
const strictFormats = " date-time time date duration email hostname ipv4 ipv6 uuid "

// hasAny tells whether a schema has one of some keywords.
func hasAny(schema []byte, keywords ...string) (found bool) {
	for _, keyword := range keywords {
		v, _ := value.Get(schema, keyword)
		found = found || v != nil
	}
	return found
}

// hasType tells whether a schema names a type.
func hasType(schema []byte, name string) (found bool) {
	t, _ := value.Get(schema, "type")
	if text, ok := value.String(t); ok {
		return string(text) == name
	}
	_ = value.EachItem(t, func(_ int, v []byte) bool {
		text, _ := value.String(v)
		found = found || string(text) == name
		return !found
	})
	return found
}

// namesProperties tells whether a schema says which properties objects have: it names some, or wants none.
func namesProperties(schema []byte) bool {
	more, _ := value.Get(schema, "additionalProperties")
	open, ok := value.Bool(more)
	properties, _ := value.Get(schema, "properties")
	some := false
	_ = value.Each(properties, func(_, _ []byte) bool {
		some = true
		return false
	})
	return some || ok && !open
}

// hasAll tells whether objects of a schema have all of its properties, and the schema wants no others.
func hasAll(schema []byte) bool {
	more, _ := value.Get(schema, "additionalProperties")
	if open, ok := value.Bool(more); more != nil && (!ok || open) || !namesProperties(schema) {
		return false
	}
	properties, _ := value.Get(schema, "properties")
	required, _ := value.Get(schema, "required")
	names := map[string]bool{}
	_ = value.EachItem(required, func(_ int, v []byte) bool {
		text, _ := value.String(v)
		names[string(text)] = true
		return true
	})
	all := true
	_ = value.Each(properties, func(key, _ []byte) bool {
		all = names[string(key)]
		return all
	})
	return all
}
