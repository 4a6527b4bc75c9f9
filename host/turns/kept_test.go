package turns_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// asks is a model's answer that calls a tool.
func asks(id, tool, args string) hosttest.Response {
	quoted, _ := json.Marshal(args)
	return hosttest.Response{ContentType: "application/json", Body: fmt.Sprintf(
		`{"choices":[{"message":{"content":null,"tool_calls":[{"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}]},"finish_reason":"tool_calls"}]}`,
		id, tool, quoted,
	)}
}

// says is a model's answer in words.
func says(text string) hosttest.Response {
	return hosttest.Response{ContentType: "application/json", Body: fmt.Sprintf(`{"choices":[{"message":{"content":%q},"finish_reason":"stop"}]}`, text)}
}

// toolMessages are what the model was told of its calls in a request, and the names of the tools that it was offered.
func toolMessages(t *testing.T, r hosttest.Request) (messages, tools []string) {
	t.Helper()
	var body struct {
		Messages []struct {
			Role    string
			Content any
		}
		Tools []struct{ Function struct{ Name string } }
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatal(err)
	}
	for _, m := range body.Messages {
		if m.Role == "tool" {
			messages = append(messages, fmt.Sprint(m.Content))
		}
	}
	for _, tool := range body.Tools {
		tools = append(tools, tool.Function.Name)
	}
	return messages, tools
}

func resultTool(name string, result func() (any, error)) *turns.Tool {
	return &turns.Tool{
		Name: name, Description: name, InputSchema: `{"type":"object"}`,
		Handler: func(*turns.DispatchContext, turns.Args) (any, error) { return result() },
	}
}

// A model that calls a tool whose result is an artifact or a medium gets its handle, and reads it with the tools of the
// next iteration. Storage and listeners get the very object.
func TestResultsOfHostToolsForModels(t *testing.T) {
	log := record.NewSpooledArtifact(record.NewBlob([]byte("alpha\nbeta\nbanana")))
	table := record.NewSpooledJSONArtifact(record.NewBlob([]byte(`[{"a":1},{"a":2}]`)), record.OneJSON).WithSizeHints(17, 1)
	photo := record.ToolGenerated(record.Image, "image/png", "p.png", record.NewBlob([]byte("png")))
	photo.ID = "p"
	broken := &record.Media{ID: "m"}
	const readers = "artifact_head, artifact_tail, artifact_grep, artifact_cat, artifact_byte_length, artifact_line_count, artifact_estimate_tokens"
	handle := func(id, kind string, bytes, lines int, tools string) string {
		return fmt.Sprintf("Artifact %s (%s, %d bytes, %d lines). Its text is not shown here. Read it with callId %q and one of: %s.", id, kind, bytes, lines, id, tools)
	}
	const jsonTools = "artifact_json_type, artifact_json_keys, artifact_json_length, artifact_json_get, artifact_json_filter, artifact_json_slice, artifact_json_pluck, "
	tests := map[string]struct {
		result   any
		artifact bool // an artifact tool's
		handle   string
		reader   string // tool that the model reads it with; empty for none
		args     string
		read     string
		kept     func(results any) bool
	}{
		"artifact": {
			log, false, handle("c1", "SpooledArtifact", 17, 3, readers), "artifact_grep", `{"callId":"c1","pattern":"^b"}`, "beta\nbanana",
			func(results any) bool { return results == log },
		},
		"list": {
			[]*record.SpooledArtifact{log, table},
			false, handle("c1#0", "SpooledArtifact", 17, 3, readers) + "\n" + handle("c1#1", "SpooledJsonArtifact", 17, 1, jsonTools+readers),
			"artifact_json_get", `{"callId":"c1#1","path":"$[1].a"}`, "[\n  2\n]",
			func(results any) bool {
				list, ok := results.([]*record.SpooledArtifact)
				return ok && slices.Equal(list, []*record.SpooledArtifact{log, table})
			},
		},
		"medium": {
			photo, false, `[image p "p.png", image/png]`, "", "", "",
			func(results any) bool { return results == photo },
		},
		"media": {
			[]*record.Media{photo, photo},
			false, `[image p "p.png", image/png]` + "\n" + `[image p "p.png", image/png]`, "", "", "",
			func(results any) bool {
				list, ok := results.([]*record.Media)
				return ok && slices.Equal(list, []*record.Media{photo, photo})
			},
		},
		"of an artifact tool": {
			log, true, "alpha\nbeta\nbanana", "", "", "",
			func(results any) bool { return results == log },
		},
		"text that is rendered": {
			record.NewDynamicTokenizable(func(context.Context) (string, error) { return "rendered", nil }),
			false, "rendered", "", "", "", func(results any) bool { return results == "rendered" },
		},
		"a list that is not a result": {
			[]any{1, "SpooledArtifact", 5, 1, ""},
			false, `[1,"SpooledArtifact",5,1,""]`, "", "", "", func(results any) bool { return results == `[1,"SpooledArtifact",5,1,""]` },
		},
		"a list of both": {
			[]any{table, photo},
			false, `[{"artifact":"SpooledJsonArtifact","form":"json","byteLength":17,"lineCount":1},` +
				`{"id":"p","kind":"image","mimeType":"image/png","filename":"p.png","trustTier":"first-party","modalityHazard":"opaque-perceptual","stash":{}}]`,
			"", "", "", func(results any) bool { _, ok := results.(string); return ok },
		},
		"text of a tool with a class": {
			"{}", false, handle("c1", "SpooledJsonArtifact", 2, 1, jsonTools+readers), "artifact_json_type", `{"callId":"c1"}`, "json",
			func(results any) bool {
				a, ok := results.(*record.SpooledArtifact)
				return ok && a.Class() == record.SpooledJSON
			},
		},
		"an empty list": {
			[]*record.Media{}, false, "[]", "", "", "", func(results any) bool { return results == "[]" },
		},
		"a bad medium": {
			broken, false, "E_INVALID_VALUE", "", "", "", func(results any) bool { _, ok := results.(string); return ok },
		},
		"an artifact without a reader": {
			record.NewSpooledArtifact(nil), false, "E_NOT_A_SPOOL_READER", "", "", "", func(results any) bool { _, ok := results.(string); return ok },
		},
	}
	classes := map[string]*record.ArtifactClass{"text of a tool with a class": record.SpooledJSON}
	for _, engine := range hosttest.Engines(t) {
		for name, test := range tests {
			t.Run(engine.Name()+"/"+name, func(t *testing.T) {
				script := []hosttest.Response{asks("c1", "get", `{}`)}
				if test.reader != "" {
					script = append(script, asks("c2", test.reader, test.args))
				}
				provider, err := hosttest.NewProvider(1, append(script, says("done"))...)
				if err != nil {
					t.Fatal(err)
				}
				defer provider.Close() //nolint:errcheck // nothing is read from it any more
				h := turns.NewHost(turns.HostOptions{Engine: engine, Verify: true, Clock: host.FixedClock(host.FixedTime)})
				defer h.Close(t.Context())
				var stored, reported []any
				tool := resultTool("get", func() (any, error) { return test.result, nil })
				tool.Artifact, tool.ArtifactClass = test.artifact, classes[name]
				callbacks := noStorage()
				callbacks.StoreToolCall = func(_ turns.Context, c *record.ToolCall) error {
					if c.ID == "c1" {
						stored = append(stored, c.Results)
					}
					return nil
				}
				runner := newRunner(t, turns.TurnRunnerConfig{
					Chat: &model.ChatOptions{Model: "m", BaseURL: provider.URL + "/v1", Options: map[string]any{"trust": "off"}}, Tools: []*turns.Tool{tool}, Host: h, Callbacks: callbacks,
				})
				runner.On(event.KindToolCall, func(e event.Event) {
					if c := e.(*event.ToolCall); c.IsComplete && c.ID == "c1" {
						reported = append(reported, c.Results)
					}
				})
				result, err := runner.Run(t.Context(), turns.TurnInput{SystemPrompt: "test", Text: "get it"})
				if err != nil || result.Status != event.Ack {
					t.Fatalf("%+v, %v", result, err)
				}
				requests := provider.Requests()
				messages, tools := toolMessages(t, requests[1])
				if len(messages) != 1 || messages[0] != test.handle && !strings.HasPrefix(test.handle, "E_") {
					t.Errorf("the model got\n%s\nwant\n%s", messages, test.handle)
				}
				if test.reader != "" {
					if !slices.Contains(tools, test.reader) {
						t.Errorf("offered %s", tools)
					}
					if messages, _ = toolMessages(t, requests[2]); len(messages) != 2 || messages[1] != test.read {
						t.Errorf("the model read %q", messages[1:])
					}
				}
				if len(stored) != 1 || !test.kept(stored[0]) || len(reported) != 1 || !test.kept(reported[0]) {
					t.Errorf("stored %v, reported %v", stored, reported)
				}
			})
		}
	}
}
