package turns_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// plainReader is a SpoolReader that reads line by line and does not know its size.
type plainReader struct {
	lines []string
	asked int
	fail  error
}

func (r *plainReader) Line(_ context.Context, n int) (string, error) {
	r.asked++
	if n >= len(r.lines) {
		return "", io.EOF
	}
	return r.lines[n], r.fail
}

func (r *plainReader) ReadAll(context.Context) (string, error) {
	r.asked++
	return strings.Join(r.lines, "\n"), r.fail
}

func (r *plainReader) LineCount(context.Context) (int, error) {
	r.asked++
	return len(r.lines), nil
}

func (r *plainReader) ByteLength() (int64, bool) { return 0, false }

// readersOf are the ways to read a text.
func readersOf(text string) map[string]record.SpoolReader {
	var lines []string
	if text != "" {
		lines = strings.Split(text, "\n")
	}
	return map[string]record.SpoolReader{
		"blob": record.NewBlob([]byte(text)), "file": record.NewFileReader(strings.NewReader(text), int64(len(text))), "plain": &plainReader{lines: lines},
	}
}

// H1 to H4 and H17.
func TestSpooledArtifact(t *testing.T) {
	ctx := t.Context()
	for name, r := range readersOf("alpha\nbeta\ngamma\ndelta\nepsilon") {
		t.Run(name, func(t *testing.T) {
			a := record.NewSpooledArtifact(r)
			for _, c := range []struct {
				what string
				read func() ([]string, error)
				want string
			}{
				{"head(3)", func() ([]string, error) { return a.Head(ctx, 3) }, "alpha beta gamma"},
				{"head(100)", func() ([]string, error) { return a.Head(ctx, 100) }, "alpha beta gamma delta epsilon"},
				{"head(0)", func() ([]string, error) { return a.Head(ctx, 0) }, ""},
				{"tail(2)", func() ([]string, error) { return a.Tail(ctx, 2) }, "delta epsilon"},
				{"tail(100)", func() ([]string, error) { return a.Tail(ctx, 100) }, "alpha beta gamma delta epsilon"},
				{"tail(-1)", func() ([]string, error) { return a.Tail(ctx, -1) }, ""},
				{"cat(1,4)", func() ([]string, error) { return a.Cat(ctx, 1, 4) }, "beta gamma delta"},
				{"cat(-5,2)", func() ([]string, error) { return a.Cat(ctx, -5, 2) }, "alpha beta"},
				{"cat(3,100)", func() ([]string, error) { return a.Cat(ctx, 3, 100) }, "delta epsilon"},
				{"cat(3,max)", func() ([]string, error) { return a.Cat(ctx, 3, math.MaxInt) }, "delta epsilon"},
				{"cat(3,-1)", func() ([]string, error) { return a.Cat(ctx, 3, -1) }, ""},
				{"cat(9,12)", func() ([]string, error) { return a.Cat(ctx, 9, 12) }, ""},
				{"grep a$", func() ([]string, error) { return a.Grep(ctx, regexp.MustCompile(`a$`)) }, "alpha beta gamma delta"},
				{"grep ^omega$", func() ([]string, error) { return a.Grep(ctx, regexp.MustCompile(`^omega$`)) }, ""},
				{"grep ALPHA", func() ([]string, error) { return a.Grep(ctx, regexp.MustCompile(`(?i)ALPHA`)) }, "alpha"},
			} {
				lines, err := c.read()
				if got := strings.Join(lines, " "); got != c.want || err != nil {
					t.Errorf("%s: %q, %v", c.what, got, err)
				}
			}
			if n, err := a.LineCount(ctx); n != 5 || err != nil {
				t.Errorf("%d lines, %v", n, err)
			}
			if n, err := a.ByteLength(ctx); n != 30 || err != nil {
				t.Errorf("%d bytes, %v", n, err)
			}
			if n, err := a.EstimateTokens(ctx, "claude"); n != 9 || err != nil {
				t.Errorf("%d tokens, %v", n, err)
			}
		})
	}
	for _, text := range []string{"a\nb\nc\n", "a\r\nb\r\n", "", "\n", "é\na", strings.Repeat("x", 200_000) + "\ny\n\n"} {
		for name, r := range readersOf(text) {
			a := record.NewSpooledArtifact(r)
			whole, err := a.AsString(ctx)
			if whole != text || err != nil {
				t.Errorf("%s: %q, %v", name, whole, err)
			}
			all, err := a.Cat(ctx, 0, math.MaxInt)
			n, _ := a.LineCount(ctx)
			size, _ := a.ByteLength(ctx)
			if strings.Join(all, "\n") != text || err != nil || n != len(all) || size != int64(len(text)) || (n == 0) != (text == "") {
				t.Errorf("%s: %d of %d lines, %d bytes of %d, %v", name, len(all), n, size, len(text), err)
			}
		}
	}
}

// H5, H6 and F13.
func TestSizeHints(t *testing.T) {
	ctx := t.Context()
	r := &plainReader{lines: []string{"a"}}
	a := record.NewSpooledArtifact(r).WithSizeHints(99, 7)
	lines, _ := a.LineCount(ctx)
	if n, _ := a.ByteLength(ctx); n != 99 || lines != 7 || r.asked != 0 || !a.HasSizeHints() {
		t.Errorf("%d bytes, %d lines, asked %d times", n, lines, r.asked)
	}
	handle, err := a.Handle(`a"b`)
	if want := `Artifact a"b (SpooledArtifact, 99 bytes, 7 lines). Its text is not shown here. Read it with callId "a\"b" and one of: artifact_head, `; !strings.HasPrefix(handle, want) || err != nil {
		t.Errorf("%s, %v", handle, err)
	}
	if n, err := a.EstimateHandleTokens(`a"b`, "other"); n != (len(handle)+3)/4 || err != nil {
		t.Errorf("%d tokens, %v", n, err)
	}
	if _, err := record.NewSpooledArtifact(r).Handle("x"); !errors.Is(err, record.ErrNoSizeHints) {
		t.Errorf("%v", err)
	}
	for name, bad := range map[string]*record.SpooledArtifact{
		"no reader": record.NewSpooledArtifact(nil), "nil": nil,
	} {
		if err := bad.Validate(); !errors.Is(err, host.CodeNotASpoolReader) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := record.NewSpooledArtifact(nil).Head(ctx, 1); !errors.Is(err, host.CodeNotASpoolReader) {
		t.Errorf("%v", err)
	}
	for _, bad := range []*record.SpooledArtifact{record.NewSpooledJSONArtifact(r, "xml"), a.WithSizeHints(-1, 0)} {
		if err := bad.Validate(); !errors.Is(err, host.CodeInvalidValue) {
			t.Errorf("%v", err)
		}
	}
	for content, want := range map[any]bool{record.NewSpooledArtifact(r): true, a: false, "text": false} {
		doc := record.Retrievable{Content: content}
		if doc.SizeUnknown() != want {
			t.Errorf("%v: unknown %t", content, !want)
		}
		if doc.Inline = true; doc.SizeUnknown() {
			t.Errorf("%v is inline", content)
		}
	}
	text, err := json.Marshal([]any{a, record.NewSpooledJSONArtifact(r, record.JSONL)})
	if want := `[{"artifact":"SpooledArtifact","byteLength":99,"lineCount":7},{"artifact":"SpooledJsonArtifact","form":"jsonl"}]`; string(text) != want || err != nil {
		t.Errorf("%s, %v", text, err)
	}
}

// called is a completed tool call.
func called(id string, results any) *record.ToolCall {
	return &record.ToolCall{
		ID: id, Tool: "fetch", Args: json.RawMessage(`{}`), Checksum: "s", IsComplete: true, Results: results,
		CreatedAt: instant, UpdatedAt: instant, CompletedAt: instant,
	}
}

func toolNames(ctx *turns.DispatchContext) string {
	var names []string
	for _, tool := range ctx.Tools().All() {
		names = append(names, strings.TrimPrefix(tool.Name, "artifact_"))
	}
	return strings.Join(names, " ")
}

// offered are the ids that a reader tool takes.
func offered(t *testing.T, ctx *turns.DispatchContext, name string) string {
	t.Helper()
	tool := ctx.Tools().Get(name)
	if tool == nil {
		return "no tool"
	}
	var schema struct {
		Properties struct {
			CallID struct{ Enum []string } `json:"callId"`
		}
	}
	if err := json.Unmarshal(tool.InputSchema.(json.RawMessage), &schema); err != nil {
		t.Fatal(err)
	}
	return strings.Join(schema.Properties.CallID.Enum, " ")
}

func read(ctx *turns.DispatchContext, tool, args string) (string, error) {
	found := ctx.Tools().Get(tool)
	if found == nil {
		return "", errors.New("there is no " + tool)
	}
	result, err := found.Executor(ctx)(json.RawMessage(args))
	text, _ := result.(string)
	return text, err
}

// H7 to H13, H15 and H16, with decisions 4, 20 and 21.
func TestReaderTools(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		mine := &turns.Tool{Name: "artifact_tail", Description: "mine", InputSchema: `{"type":"object"}`, Handler: func(*turns.DispatchContext, turns.Args) (any, error) { return "own", nil }}
		payload := record.NewSpooledArtifact(record.NewBlob([]byte("alpha\nbeta\ngamma\nbanana")))
		list := []*record.SpooledArtifact{record.NewSpooledArtifact(record.NewBlob([]byte("0"))), record.NewSpooledArtifact(&plainReader{lines: []string{"one", "two"}})}
		rows := record.NewSpooledJSONArtifact(record.NewBlob([]byte(`{"rows":[{"n":1,"name":"one"},{"n":2,"name":"two"},{"n":3,"name":"three"}]}`)), record.AnyJSON)
		page := record.NewSpooledMarkdownArtifact(record.NewBlob([]byte("# a\n[b](c)")))
		inline := record.NewRetrievable("inl", "text", record.FirstParty, instant)
		inline.Inline = true
		var before, acked string
		config := turns.TurnRunnerConfig{
			Callbacks: turns.StoreCallbacks(store.NewInMemory()), Tools: []*turns.Tool{mine},
			DispatchInputPipeline: []turns.DispatchMiddleware{func(ctx *turns.DispatchContext, next func()) error {
				before = toolNames(ctx)
				next()
				return nil
			}},
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				switch ctx.Iteration() {
				case 0:
					if before != "tail" {
						t.Errorf("without artifacts: %s", before)
					}
					doc, err := ctx.StoreRetrievable(record.NewRetrievable("doc", "page one\npage two", record.ThirdPartyPublic, instant))
					if err != nil {
						return err
					}
					if a, ok := doc.Content.(*record.SpooledArtifact); !ok || !a.HasSizeHints() || doc.TrustTier != record.ThirdPartyPublic {
						t.Errorf("stored as %+v", doc)
					}
					if same, err := ctx.StoreRetrievable(inline); same != inline || err != nil {
						t.Errorf("stored as %+v, %v", same, err)
					}
					return errors.Join(ctx.StoreToolCall(called("c1", payload)), ctx.StoreToolCall(called("l", list)), ctx.StoreToolCall(called("j", rows)), ctx.StoreToolCall(called("md", page)), ctx.StoreToolCall(called("t", "text")))
				case 1:
					if !strings.HasPrefix(before, "tail head ") {
						t.Errorf("the input pipeline saw %s", before)
					}
					if got := offered(t, ctx, "artifact_head"); got != "c1 l#0 l#1 j md doc" {
						t.Errorf("head offers %s", got)
					}
					tool := ctx.Tools().Get("artifact_cat")
					if !tool.Ephemeral || !tool.Artifact || tool.Description == "" {
						t.Errorf("%+v", tool)
					}
					for _, c := range [][3]string{
						{"artifact_head", `{"callId":"c1","n":2}`, "alpha\nbeta"},
						{"artifact_cat", `{"callId":"l#1","start":1}`, "two"},
						{"artifact_cat", `{"callId":"doc"}`, "page one\npage two"},
						{"artifact_byte_length", `{"callId":"l#1"}`, "7"},
						{"artifact_line_count", `{"callId":"c1"}`, "4"},
						{"artifact_grep", `{"callId":"c1","pattern":"^B","flags":"i"}`, "beta\nbanana"},
						{"artifact_json_get", `{"callId":"j","path":"$.rows[?@.n>1].name"}`, "two\nthree"},
						{"artifact_md_links", `{"callId":"md"}`, "[\n  {\n    \"text\": \"b\",\n    \"url\": \"c\"\n  }\n]"},
						{"artifact_tail", `{}`, "own"},
					} {
						if got, err := read(ctx, c[0], c[1]); got != c[2] || err != nil {
							t.Errorf("%s %s: %q, %v", c[0], c[1], got, err)
						}
					}
					if _, err := read(ctx, "artifact_head", `{"callId":"inl"}`); !errors.Is(err, host.CodeInvalidToolArgs) {
						t.Errorf("inline: %v", err)
					}
					answer := called("grep", "beta\nbanana")
					answer.FromArtifactTool = true
					return ctx.StoreToolCall(answer)
				case 2:
					if got := offered(t, ctx, "artifact_head"); got != "c1 l#0 l#1 j md doc" {
						t.Errorf("then head offers %s", got)
					}
					return nil
				}
				ctx.OnAck(func() { acked = toolNames(ctx) })
				return ctx.Ack()
			},
		}
		log, result := play(t, h, config, turns.TurnInput{})
		if result.Status != event.Ack || acked != "tail" {
			t.Errorf("%+v, after the ack: %s", result, acked)
		}
		if w := find[*event.Warning](log); len(w) != 1 || w[0].Type != "artifact-tool-shadowed" {
			t.Errorf("warnings %+v", w)
		}
		if starts := find[*event.ToolExecutionStart](log); len(starts) != 9 || starts[0].ToolName != "artifact_head" || string(starts[0].Args) != `{"callId":"c1","n":2}` {
			t.Errorf("%d executions: %+v", len(starts), starts[0])
		}
	})
}

// H14.
func TestArtifactIDCollision(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		a := record.NewSpooledArtifact(record.NewBlob([]byte("x")))
		log, result := play(t, h, turns.TurnRunnerConfig{
			Executor: ack,
			TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
				defer next()
				doc := record.NewRetrievable("x", "text", record.FirstParty, instant)
				doc.Content = a
				return errors.Join(ctx.TurnToolCalls().Add(called("x", a)), ctx.TurnRetrievables().Add(doc))
			}},
		}, turns.TurnInput{})
		if got := log.words(); !strings.Contains(got, "dE(nack,1,E_ARTIFACT_ID_COLLISION)") || !errors.Is(result.Err, host.CodeArtifactIDCollision) {
			t.Errorf("%s, %v", got, result.Err)
		}
	})
}

// A30, A32, A33 and B43.
func TestSpooling(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var written atomic.Int32 // texts are spooled all at once
		callbacks := turns.StoreCallbacks(store.NewInMemory())
		store := callbacks.StoreRetrievableBytes
		callbacks.StoreRetrievableBytes = func(ctx turns.Context, id string, r io.Reader) (record.SpoolReader, error) {
			written.Add(1)
			return store(ctx, id, r)
		}
		doc := func(id string) *record.Retrievable {
			return record.NewRetrievable(id, "text of "+id, record.FirstParty, instant)
		}
		var fetched []*record.Retrievable
		callbacks.FetchRetrievables = func(turns.Context) ([]*record.Retrievable, error) { return fetched, nil }
		_, result := play(t, h, turns.TurnRunnerConfig{
			Callbacks: callbacks, Executor: ack,
			TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
				defer next()
				stored, err := ctx.StoreRetrievable(doc("a"))
				if err != nil {
					return err
				}
				if _, ok := stored.Content.(*record.SpooledArtifact); !ok || !ctx.TurnRetrievables().Has(stored) {
					t.Errorf("stored as %+v", stored)
				}
				mutated, err := ctx.MutateRetrievable(doc("a"))
				if got := ctx.TurnRetrievables().Slice(); err != nil || mutated == stored || len(got) != 1 || got[0] != mutated {
					t.Errorf("mutated to %+v, %v, the turn has %v", mutated, err, got)
				}
				fetched = []*record.Retrievable{doc("duplicate"), doc("duplicate")}
				written.Store(0)
				if _, err := ctx.FetchRetrievables(); err == nil || err.Error() != "Duplicate retrievable id: duplicate" || written.Load() != 0 {
					t.Errorf("%v, written %d times", err, written.Load())
				}
				fetched = fetched[:1]
				got, err := ctx.FetchRetrievables()
				if err != nil || len(got) != 1 || written.Load() != 1 {
					t.Fatalf("fetched %v, %v, written %d times", got, err, written.Load())
				}
				if text, err := got[0].ContentString(ctx); text != "text of duplicate" || err != nil || fetched[0].Content != "text of duplicate" {
					t.Errorf("%q, %v, what storage gave is %v", text, err, fetched[0].Content)
				}
				written.Store(0)
				if err := ctx.TurnRetrievables().Add(doc("b"), doc("c")); err != nil {
					return err
				}
				for range 2 {
					if _, err := turns.Dispatch(ctx, turns.DispatchInput{Source: ctx, Executor: ack}); err != nil {
						t.Error(err)
					}
				}
				for r := range ctx.TurnRetrievables().All() {
					if _, ok := r.Content.(*record.SpooledArtifact); !ok {
						t.Errorf("%s holds %v", r.ID, r.Content)
					}
				}
				return nil
			}},
		}, turns.TurnInput{})
		if result.Status != event.Ack || written.Load() != 2 {
			t.Errorf("%+v, written %d times", result, written.Load())
		}
	})
}

// Storage that gives no reader, or fails, fails the store, or the dispatch before any event.
func TestSpoolingFails(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		for name, want := range map[string]error{"no reader": host.CodeNotASpoolReader, "fails": errX} {
			callbacks := noStorage()
			callbacks.StoreRetrievableBytes = func(turns.Context, string, io.Reader) (record.SpoolReader, error) {
				if name == "fails" {
					return nil, errX
				}
				return nil, nil
			}
			doc := record.NewRetrievable("r", "text", record.FirstParty, instant)
			log, result := play(t, h, turns.TurnRunnerConfig{
				Callbacks: callbacks, Executor: ack,
				TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
					if _, err := ctx.StoreRetrievable(doc); !errors.Is(err, want) {
						t.Errorf("%s: %v", name, err)
					}
					defer next()
					return ctx.TurnRetrievables().Add(doc)
				}},
			}, turns.TurnInput{})
			if got := log.words(); !errors.Is(result.Err, want) || strings.Contains(got, "dS") {
				t.Errorf("%s: %s, %v", name, got, result.Err)
			}
			_, err := turns.Dispatch(t.Context(), turns.DispatchInput{
				Raw: &turns.RawContext{Callbacks: callbacks, SystemPrompt: "s", Retrievables: []*record.Retrievable{doc}}, Executor: ack, Host: h,
			})
			if !errors.Is(err, want) {
				t.Errorf("%s: raw: %v", name, err)
			}
		}
	})
}

// Readers that fail, and lines that are too long, come back as the tool's failure with their code or their very error.
func TestReadersThatFail(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		_, result := play(t, h, turns.TurnRunnerConfig{
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				if ctx.Iteration() == 0 {
					return errors.Join(
						ctx.StoreToolCall(called("broken", record.NewSpooledArtifact(&plainReader{lines: []string{"a"}, fail: errX}))),
						ctx.StoreToolCall(called("long", record.NewSpooledArtifact(record.NewBlob(bytes.Repeat([]byte("x"), 5<<20))))),
						ctx.StoreToolCall(called("latin", record.NewSpooledArtifact(record.NewBlob([]byte("caf\xe9"))))),
					)
				}
				if _, err := read(ctx, "artifact_head", `{"callId":"broken"}`); !errors.Is(err, host.CodeToolDownstreamError) || !errors.Is(err, errX) {
					t.Errorf("broken: %v", err)
				}
				if _, err := read(ctx, "artifact_head", `{"callId":"long"}`); !errors.Is(err, host.CodeArtifactTooLarge) {
					t.Errorf("long: %v", err)
				}
				if got, err := read(ctx, "artifact_head", `{"callId":"latin"}`); got != "caf\uFFFD" || err != nil {
					t.Errorf("latin: %q, %v", got, err)
				}
				return ctx.Ack()
			},
		}, turns.TurnInput{})
		if result.Status != event.Ack {
			t.Errorf("%+v", result)
		}
	})
}

// Classes of the application's own bring their own tools.
func TestArtifactClasses(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		table := &record.ArtifactClass{Name: "Table"}
		table.ReaderTools = turns.ReaderTools(func(_ *turns.DispatchContext, ids []string) []*turns.Tool {
			return []*turns.Tool{{
				Name: "table_rows", Description: "Rows of " + strings.Join(ids, ", "), InputSchema: `{"type":"object","properties":{"callId":{"type":"string"}}}`,
				Handler: func(ctx *turns.DispatchContext, args turns.Args) (any, error) {
					a := ctx.FindArtifact(args.String("callId"))
					if a == nil {
						return nil, errors.New("no such table")
					}
					n, err := a.LineCount(ctx)
					return strconv.Itoa(n), err
				},
			}}
		})
		a := record.NewArtifactOf(table, record.NewBlob([]byte("a\nb"))).WithSizeHints(3, 2)
		_, result := play(t, h, turns.TurnRunnerConfig{
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				if ctx.Iteration() == 0 {
					return ctx.StoreToolCall(called("t", a))
				}
				tool := ctx.Tools().Get("table_rows")
				if tool == nil || !tool.Ephemeral || !tool.Artifact || tool.Description != "Rows of t" {
					t.Fatalf("%+v among %s", tool, toolNames(ctx))
				}
				if got, err := read(ctx, "table_rows", `{"callId":"t"}`); got != "2" || err != nil {
					t.Errorf("%q, %v", got, err)
				}
				if got, err := read(ctx, "artifact_head", `{"callId":"t"}`); got != "a\nb" || err != nil {
					t.Errorf("%q, %v", got, err)
				}
				handle, err := a.Handle("t")
				var names []string
				for _, tool := range ctx.Tools().All() {
					if strings.HasPrefix(tool.Name, "artifact_") {
						names = append(names, tool.Name)
					}
				}
				if !strings.HasSuffix(handle, " one of: "+strings.Join(names, ", ")+".") || err != nil {
					t.Errorf("handle %q, %v; the tools are %v", handle, err, names)
				}
				return ctx.Ack()
			},
		}, turns.TurnInput{})
		if result.Status != event.Ack {
			t.Errorf("%+v", result)
		}
	})
}

// F11, and results that a tool call cannot have.
func TestInvalidContent(t *testing.T) {
	a := record.NewSpooledArtifact(record.NewBlob(nil))
	var none *record.SpooledArtifact
	for name, results := range map[string]any{
		"nothing": nil, "a number": 42, "no artifacts": []*record.SpooledArtifact{}, "no media": []*record.Media{}, "no artifact": none,
		"one without a reader": []*record.SpooledArtifact{a, record.NewSpooledArtifact(nil)}, "an empty medium": &record.Media{}, "texts": []string{"a"},
	} {
		if err := called("c", results).Validate(); !errors.Is(err, host.CodeInvalidInitialToolCallValue) || !strings.Contains(err.Error(), "results") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, results := range []any{"", "text", a, []*record.SpooledArtifact{a}} {
		if err := called("c", results).Validate(); err != nil {
			t.Errorf("%v: %v", results, err)
		}
	}
	for name, content := range map[string]any{"nothing": nil, "empty": "", "a number": 42, "no artifact": none, "a list": []*record.SpooledArtifact{a}} {
		doc := record.NewRetrievable("r", "text", record.FirstParty, instant)
		doc.Content = content
		if err := doc.Validate(); !errors.Is(err, host.CodeInvalidInitialRetrievableValue) || !strings.Contains(err.Error(), "content") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// F15: what is inline, and what is spooled already, stays as it is in a fetch.
func TestFetchKeepsInline(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		inline := record.NewRetrievable("i", "text", record.FirstParty, instant)
		inline.Inline = true
		spooled := record.NewRetrievable("s", "", record.FirstParty, instant)
		spooled.Content = record.NewSpooledMarkdownArtifact(record.NewBlob([]byte("# a")))
		given := []*record.Retrievable{inline, spooled}
		callbacks := noStorage()
		callbacks.FetchRetrievables = func(turns.Context) ([]*record.Retrievable, error) { return given, nil }
		callbacks.StoreRetrievableBytes = func(turns.Context, string, io.Reader) (record.SpoolReader, error) { return nil, errX }
		play(t, h, turns.TurnRunnerConfig{Callbacks: callbacks, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			if got, err := ctx.FetchRetrievables(); !slices.Equal(got, given) || err != nil {
				t.Errorf("%v, %v", got, err)
			}
			return ctx.Ack()
		}}, turns.TurnInput{})
	})
}
