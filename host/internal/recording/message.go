package recording

import (
	"cmp"
	"encoding/json"
	"strings"
)

// message is a message of a recorded request.
type message struct {
	role    string
	name    string
	text    string
	thought string // reasoning that the client sent back
	media   []Media
	callID  string // of a tool's message
	given   map[string]any
	calls   []Call
}

// givenIn returns what of a message the provider gave to have it back, by the names of the members: reasoning_details
// of which any is signed or encrypted, and extra_content. It is nil for nothing.
func givenIn(m map[string]json.RawMessage) map[string]any {
	given := map[string]any{}
	for _, raw := range items(m["reasoning_details"]) {
		if detail, _ := members(raw); str(detail["signature"]) != "" || str(detail["data"]) != "" {
			given["reasoning_details"] = decoded(m["reasoning_details"])
		}
	}
	if extra, ok := members(m["extra_content"]); ok && len(extra) > 0 {
		given["extra_content"] = decoded(m["extra_content"])
	}
	if len(given) == 0 {
		return nil
	}
	return given
}

// decoded is the value of a JSON text that has been read already.
func decoded(raw json.RawMessage) (v any) {
	_ = json.Unmarshal(raw, &v)
	return v
}

// messagesOf reads the messages of a request's body, nil when it has none. What cannot be read is left out. Media of
// tools' results are in a message of the user behind the results.
func messagesOf(body json.RawMessage) []message {
	request, _ := members(body)
	var list []message
	var behind []Media // of results
	for _, raw := range items(request["messages"]) {
		m, _ := members(raw)
		out := message{role: str(m["role"]), name: str(m["name"]), callID: str(m["tool_call_id"])}
		out.thought = cmp.Or(str(m["reasoning_content"]), str(m["reasoning"]))
		if out.role == "assistant" {
			out.given = givenIn(m)
		}
		out.text, out.media = contentOf(m["content"], out.role == "tool")
		if out.text == "" && out.role == "assistant" {
			out.text = str(m["refusal"])
		}
		if out.role == "tool" {
			behind, out.media = append(behind, out.media...), nil
		} else if len(behind) > 0 {
			list, behind = append(list, message{role: "user", media: behind}), nil
		}
		for _, raw := range items(m["tool_calls"]) {
			call, _ := members(raw)
			function, _ := members(call["function"])
			args := function["arguments"]
			var text string
			if json.Unmarshal(args, &text) == nil {
				args = json.RawMessage(text)
			}
			if len(args) == 0 {
				args = json.RawMessage("{}")
			}
			out.calls = append(out.calls, Call{ID: str(call["id"]), Tool: str(function["name"]), Args: args, Given: givenIn(call)})
		}
		list = append(list, out)
	}
	if len(behind) > 0 {
		list = append(list, message{role: "user", media: behind})
	}
	return list
}

// contentOf is the text of a content, a string or the texts of a list's parts, and its media. A tool's result that is
// neither is JSON.
func contentOf(content json.RawMessage, result bool) (text string, media []Media) {
	var v any
	if len(content) == 0 || json.Unmarshal(content, &v) != nil {
		return "", nil
	}
	parts, _ := v.([]any)
	for _, part := range parts {
		if isMedia(part) {
			object, _ := part.(map[string]any)
			media = append(media, readMedia(object))
		}
	}
	return plainText(v, result), media
}

func plainText(content any, result bool) string {
	switch v := content.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		var s strings.Builder
		for _, part := range v {
			switch part := part.(type) {
			case string:
				s.WriteString(part)
			case map[string]any:
				text, ok := part["text"].(string)
				if !ok && part["type"] == "refusal" {
					text, _ = part["refusal"].(string)
				}
				s.WriteString(text)
			}
		}
		return s.String()
	}
	if result {
		return string(text(content))
	}
	return ""
}

// isSystem tells whether a role is one of who writes the system prompt.
func isSystem(role string) bool { return role == "system" || role == "developer" }

// answered returns the calls that messages make, with the results that the messages behind them hold. Results belong to
// calls of the answer before them: by the id, or by the order where ids are missing, or are given twice.
func answered(messages []message) [][]Call {
	list := make([][]Call, len(messages))
	for i, m := range messages {
		if len(m.calls) == 0 {
			continue
		}
		calls := append([]Call(nil), m.calls...)
		var results []message
		for _, next := range messages[i+1:] {
			if next.role == "assistant" {
				break
			}
			if next.role == "tool" {
				results = append(results, next)
			}
		}
		for _, byID := range []bool{true, false} {
			for k := range calls {
				for j, result := range results {
					if !calls[k].Answered && result.role != "" && (!byID || result.callID == calls[k].ID) {
						calls[k].Result, calls[k].Answered = result.text, true
						results[j].role = "" // taken
					}
				}
			}
		}
		list[i] = calls
	}
	return list
}
