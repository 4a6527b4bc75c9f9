package recording

import (
	"encoding/json"
	"reflect"
	"slices"
	"sort"
)

// normalBody brings a body into the form that is compared: what no reader of the protocol can tell apart is the same in
// it.
func normalBody(v any) any {
	body, ok := withoutNull(v).(map[string]any)
	if !ok {
		return withoutNull(v)
	}
	if body["stream"] == false {
		delete(body, "stream")
	}
	if tools, ok := body["tools"].([]any); ok {
		normalTools(body, tools)
	}
	if messages, ok := body["messages"].([]any); ok {
		body["messages"] = normalMessages(messages)
	}
	return body
}

// withoutNull copies a value without the members of objects that are null.
func withoutNull(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, e := range v {
			if e != nil {
				out[key] = withoutNull(e)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = withoutNull(e)
		}
		return out
	}
	return v
}

// normalTools puts tools that the provider runs itself into a member of their own, and takes empty lists away.
func normalTools(body map[string]any, tools []any) {
	functions, others := []any{}, []any{}
	for _, v := range tools {
		tool, ok := v.(map[string]any)
		if kind, has := tool["type"]; ok && has && kind != "function" && tool["function"] == nil {
			others = append(others, v)
			continue
		}
		if ok && tool["type"] == nil {
			tool["type"] = "function"
		}
		if function, ok := tool["function"].(map[string]any); ok {
			normalSchema(function["parameters"])
		}
		functions = append(functions, v)
	}
	delete(body, "tools")
	if len(functions) > 0 {
		body["tools"] = functions
	}
	if len(others) > 0 {
		body["provider_tools"] = others
	}
}

// normalSchema drops keywords that a JSON Schema does not need: empty properties, and items of any kind.
func normalSchema(v any) {
	schema, ok := v.(map[string]any)
	if !ok {
		return
	}
	for key, v := range schema {
		switch inner, isMap := v.(map[string]any); {
		case isMap && len(inner) == 0 && (key == "properties" || key == "items"):
			delete(schema, key)
		case isMap && (key == "properties" || key == "patternProperties" || key == "$defs" || key == "definitions"):
			for _, v := range inner {
				normalSchema(v)
			}
		case isMap && (key == "items" || key == "additionalProperties" || key == "not"):
			normalSchema(v)
		case key == "anyOf" || key == "allOf" || key == "oneOf" || key == "prefixItems":
			list, _ := v.([]any)
			for _, v := range list {
				normalSchema(v)
			}
		}
	}
}

func normalMessages(list []any) []any {
	var out []any
	var behind []any // media of results
	for _, v := range list {
		m, ok := v.(map[string]any)
		if !ok {
			out = append(out, v)
			continue
		}
		normalMessage(m)
		if m["role"] == "tool" {
			media, _ := m["media"].([]any)
			behind = append(behind, media...)
			delete(m, "media")
			delete(m, "order")
		} else if out, behind = appendMoved(out, behind), nil; isEmpty(m) {
			continue
		}
		out = append(out, m)
	}
	out = appendMoved(out, behind)
	for i, v := range out {
		m, _ := v.(map[string]any)
		if calls, ok := m["tool_calls"].([]any); ok {
			normalResults(out[i+1:], calls)
		}
	}
	if out == nil {
		return []any{}
	}
	return out
}

// appendMoved appends a message of the user with the media of results before it, which says that they were moved.
func appendMoved(list, media []any) []any {
	if len(media) == 0 {
		return list
	}
	var order []any
	for _, v := range media {
		m, _ := v.(map[string]any)
		order = append(order, m["kind"])
	}
	return append(list, map[string]any{"role": "user", "content": "", "media": media, "order": order, "moved_from_results": true})
}

// isEmpty tells whether a message says nothing.
func isEmpty(m map[string]any) bool {
	for key, v := range m {
		if key != "role" && (key != "content" || v != "") {
			return false
		}
	}
	role, _ := m["role"].(string)
	return role == "user" || role == "assistant" || isSystem(role)
}

func normalMessage(m map[string]any) {
	if parts, ok := m["content"].([]any); ok {
		normalParts(m, parts)
	}
	switch m["role"] {
	case "tool":
		switch m["content"].(type) {
		case string, []any:
		default:
			m["content"] = plainText(m["content"], true)
		}
	case "assistant":
		if words, _ := m["refusal"].(string); words != "" && (m["content"] == nil || m["content"] == "") {
			m["content"] = words
			delete(m, "refusal")
		}
		for _, key := range []string{"content", "refusal", "reasoning", "reasoning_content"} {
			if m[key] == "" {
				delete(m, key)
			}
		}
		if m["prefix"] == false {
			delete(m, "prefix") // which it is by default
		}
		for _, key := range []string{"annotations", "reasoning_details", "tool_calls"} {
			if list, ok := m[key].([]any); ok && len(list) == 0 {
				delete(m, key)
			}
		}
	}
	withoutEmptyExtra(m)
	calls, _ := m["tool_calls"].([]any)
	for _, v := range calls {
		call, ok := v.(map[string]any)
		if !ok {
			continue
		}
		withoutEmptyExtra(call)
		delete(call, "index")
		if call["type"] == nil {
			call["type"] = "function"
		}
		function, ok := call["function"].(map[string]any)
		if !ok {
			continue
		}
		text, isText := function["arguments"].(string)
		var args any
		switch {
		case function["arguments"] == nil || isText && text == "":
			function["arguments"] = map[string]any{}
		case isText && json.Unmarshal([]byte(text), &args) == nil:
			function["arguments"] = args
		}
	}
}

func withoutEmptyExtra(m map[string]any) {
	if extra, ok := m["extra_content"].(map[string]any); ok && len(extra) == 0 {
		delete(m, "extra_content")
	}
}

// normalParts takes a list of parts apart: texts are joined; reasoning, media, and what says where to cache, are
// members of their own. A list with anything else in it stays.
func normalParts(m map[string]any, parts []any) {
	var reasoning, media, order []any
	var hint any
	words := ""
	for _, v := range parts {
		part, ok := v.(map[string]any)
		text, isText := part["text"].(string)
		size := 2
		if part["cache_control"] != nil {
			hint = part["cache_control"]
			size++
		}
		what := "text"
		plain, isPlain := v.(string)
		switch {
		case isPlain:
			text, words = plain, words+plain
		case ok && (part["type"] == "thinking" || part["type"] == "reasoning"):
			reasoning = append(reasoning, part)
			continue
		case isMedia(v):
			delete(part, "cache_control")
			one := normalMedia(part)
			media = append(media, one)
			what, _ = one["kind"].(string)
		case ok && !isText && part["type"] == "refusal" && len(part) == size:
			text, _ = part["refusal"].(string)
			words += text
		case !ok || !isText || part["type"] != "text" || len(part) != size:
			return
		default:
			words += text
		}
		if what != "text" || text != "" {
			order = append(order, what)
		}
	}
	m["content"] = words
	if media != nil {
		m["media"], m["order"] = media, order
	}
	if reasoning != nil && m["reasoning"] == nil {
		m["reasoning"] = reasoning
	}
	if hint != nil {
		m["cache_control"] = hint
	}
}

// normalResults sorts the results of tools by their calls, and drops names that the calls have too.
func normalResults(behind, calls []any) {
	order, names := map[string]int{}, map[string]any{}
	for i, v := range calls {
		call, _ := v.(map[string]any)
		id, ok := call["id"].(string)
		if _, twice := order[id]; !ok || twice {
			return // the order says which is which
		}
		function, _ := call["function"].(map[string]any)
		order[id], names[id] = i, function["name"]
	}
	n := 0
	for n < len(behind) {
		m, _ := behind[n].(map[string]any)
		id, ok := m["tool_call_id"].(string)
		if _, known := order[id]; m["role"] != "tool" || !ok || !known {
			break
		}
		if reflect.DeepEqual(m["name"], names[id]) {
			delete(m, "name")
		}
		n++
	}
	sort.SliceStable(behind[:n], func(i, j int) bool {
		return order[idOf(behind[i])] < order[idOf(behind[j])]
	})
}

// idOf is the id of the call that a message answers.
func idOf(message any) string {
	m, _ := message.(map[string]any)
	id, _ := m["tool_call_id"].(string)
	return id
}

// oneSystem joins the texts of all system messages into the first message, and returns the messages that were not
// there.
func oneSystem(list []any) (out []any, moved map[int]any) {
	text, n := "", 0
	for i, v := range list {
		m, _ := v.(map[string]any)
		role, _ := m["role"].(string)
		words, isText := m["content"].(string)
		if !isSystem(role) || !isText {
			out = append(out, v)
			continue
		}
		if n > 0 {
			text += "\n\n"
		}
		text += words
		if n++; n > 1 || i > 0 {
			if moved == nil {
				moved = map[int]any{}
			}
			moved[i] = v
		}
	}
	if moved == nil {
		return list, nil
	}
	return slices.Insert(out, 0, any(map[string]any{"role": "system", "content": text})), moved
}
