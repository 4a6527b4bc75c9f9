package tools_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/builtin/builtintest"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/tools"
	"github.com/turncore/turncore/host/turns"
)

// web is a server with pages to fetch. other is an origin that is not allowed.
func web(t *testing.T) (url, other string) {
	mux := http.NewServeMux()
	page := func(path, kind, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, body)
		})
	}
	page("/docs/page", "text/html; charset=utf-8", `<title>T</title><h1>Head</h1><p>See <a href="../x?a=1">this</a>.<script>no</script>`)
	page("/docs/long", "text/plain", strings.Repeat("a line of text\n", 2000)+"the needle\n")
	page("/docs/image", "image/png", "\x89PNG")
	page("/secret", "text/plain", "secret")
	mux.HandleFunc("/docs/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/plain")
		_, _ = fmt.Fprintf(w, "%s %s %q cookie=%q auth=%q", r.Method, r.Header.Get("Content-Type"), body, r.Header.Get("Cookie"), r.Header.Get("Authorization"))
	})
	mux.HandleFunc("/docs/missing", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "<p>no such <b>page</b>")
	})
	mux.HandleFunc("/docs/slow", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "begins")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	redirect := func(path, to string, status int) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(status)
		})
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("an origin that is not allowed was requested")
	}))
	t.Cleanup(elsewhere.Close)
	redirect("/docs/moved", "page", 302)
	redirect("/docs/post", "echo", 303)
	redirect("/docs/loop", "loop", 301)
	redirect("/docs/out", elsewhere.URL+"/x", 302)
	redirect("/docs/up", "/secret", 302)
	redirect("/docs/file", "file:///etc/passwd", 302)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL, elsewhere.URL
}

// The tool fetches what it is allowed to, one redirect after another, and says what is wrong with the rest.
func TestFetchTool(t *testing.T) {
	builtintest.OnEngines(t, func(t *testing.T, h *turns.Host) {
		url, other := web(t)
		var stored []*record.Retrievable
		callbacks := turns.StoreCallbacks(store.NewInMemory())
		callbacks.StoreRetrievable = func(_ turns.Context, r *record.Retrievable) error { stored = append(stored, r); return nil }
		tool := tools.Fetch(tools.FetchOptions{
			Allow: []string{url + "/docs"}, Methods: []string{"GET", "HEAD", "POST"}, Redirects: 3, MaxInline: 4096, Timeout: 2 * time.Second,
		})
		if want := "Fetches a page or a file from the web as text. The address must begin with one of these: " + url + "/docs."; tool.Description != want {
			t.Errorf("described as %q", tool.Description)
		}
		result := builtintest.Run(t, h, turns.TurnRunnerConfig{
			Callbacks: callbacks, Tools: []*turns.Tool{tool},
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				if ctx.Iteration() == 1 { // the document can be read
					lines, err := ctx.Tools().Get("artifact_grep").Executor(ctx)(map[string]any{"callId": stored[0].ID, "pattern": "needle"})
					if err != nil || fmt.Sprint(lines) != "the needle" {
						t.Errorf("found %q, %v", lines, err)
					}
					return ctx.Ack()
				}
				for _, c := range []struct {
					args map[string]any
					want string
				}{
					{map[string]any{"url": url + "/docs/page#top"}, url + "/docs/page (text/html)\n\nTitle: T\n\n# Head\n\nSee [this](" + url + "/x?a=1)."},
					{map[string]any{"url": url + "/docs/moved"}, url + "/docs/page (text/html)\n\nTitle: T"},
					{map[string]any{"url": url + "/docs/page", "method": "HEAD"}, "content-length: "},
					{map[string]any{"url": url + "/docs/echo", "method": "POST", "body": "x", "contentType": "text/x"}, `POST text/x "x" cookie="" auth=""`},
					{map[string]any{"url": url + "/docs/post", "method": "POST", "body": "x"}, `GET  "" cookie="" auth=""`},
					{map[string]any{"url": url + "/docs/long"}, "(text/plain), 30011 bytes of text. They are in the document \""},
					{map[string]any{"url": url + "/docs/missing"}, "/docs/missing answered with status 404: no such page"},
					{map[string]any{"url": url + "/docs/image"}, "/docs/image is image/png, not text"},
					{map[string]any{"url": url + "/docs/loop"}, "/docs/loop redirects once more than 3 times"},
					{map[string]any{"url": url + "/docs/out"}, "/docs/out redirects to " + other + "/x is not allowed, but what begins with one of these: " + url + "/docs"},
					{map[string]any{"url": url + "/docs/up"}, "/docs/up redirects to " + url + "/secret is not allowed"},
					{map[string]any{"url": url + "/docs/file"}, "/docs/file redirects to \"file:///etc/passwd\" cannot be: an address begins with http"},
					{map[string]any{"url": url + "/secret"}, "/secret is not allowed"},
					{map[string]any{"url": url + "/docs/../secret"}, "/secret is not allowed"},
					{map[string]any{"url": url + "/docs/..%2fsecret"}, "secret is not allowed"},
					{map[string]any{"url": other}, "is not allowed"},
					{map[string]any{"url": "docs/page"}, "E_TOOL_DOWNSTREAM_ERROR"},
					{map[string]any{"url": url + "/docs/page", "method": "PUT"}, "E_INVALID_TOOL_ARGS"},
					{map[string]any{}, "E_INVALID_TOOL_ARGS"},
				} {
					v, err := tool.Executor(ctx)(c.args)
					got := fmt.Sprint(v)
					if err != nil {
						got = err.Error()
						if !errors.Is(err, host.CodeToolFetch) && !strings.HasPrefix(c.want, "E_") {
							t.Errorf("%v: %v", c.args, err)
						}
					}
					if !strings.Contains(got, c.want) {
						t.Errorf("%v:\n%s\nwant:\n%s", c.args, got, c.want)
					}
				}
				return nil
			},
		}, "test")
		if result.Status != event.Ack || len(stored) != 1 {
			t.Fatalf("%s, %v, %d documents", result.Status, result.Err, len(stored))
		}
		if r := stored[0]; r.TrustTier != record.ThirdPartyPublic || r.Source != url+"/docs/long" || r.Kind != "text/plain" {
			t.Errorf("document %+v", r)
		}
		if a, ok := stored[0].Content.(*record.SpooledArtifact); !ok || a == nil {
			t.Errorf("the document's content is a %T", stored[0].Content)
		}
	})
}

// Text that is too long is cut off when no documents are wanted, and what is too long to be read too.
func TestFetchCuts(t *testing.T) {
	builtintest.OnEngines(t, func(t *testing.T, h *turns.Host) {
		url, _ := web(t)
		cut := tools.Fetch(tools.FetchOptions{Allow: []string{url}, MaxInline: 20, Cut: true})
		with(t, h, cut, func(ctx *turns.DispatchContext) error {
			v, err := cut.Executor(ctx)(map[string]any{"url": url + "/docs/long"})
			if want := url + "/docs/long (text/plain), cut off\n\na line of text\na lin"; v != want {
				t.Errorf("%q, %v", v, err)
			}
			return ctx.Ack()
		})
		small := tools.Fetch(tools.FetchOptions{Allow: []string{url}, MaxBytes: 10})
		with(t, h, small, func(ctx *turns.DispatchContext) error {
			v, err := small.Executor(ctx)(map[string]any{"url": url + "/docs/long"})
			if want := url + "/docs/long (text/plain), cut off\n\na line of "; v != want {
				t.Errorf("%q, %v", v, err)
			}
			return ctx.Ack()
		})
	})
}

// A page that does not end in time is given up, and so is one whose turn is aborted.
func TestFetchTakesTooLong(t *testing.T) {
	builtintest.OnEngines(t, func(t *testing.T, h *turns.Host) {
		url, _ := web(t)
		slow := tools.Fetch(tools.FetchOptions{Allow: []string{url}, Timeout: 300 * time.Millisecond})
		with(t, h, slow, func(ctx *turns.DispatchContext) error {
			_, err := slow.Executor(ctx)(map[string]any{"url": url + "/docs/slow"})
			if !errors.Is(err, host.CodeToolFetch) || !strings.Contains(err.Error(), "took longer than 300 ms") {
				t.Error(err)
			}
			return ctx.Ack()
		})
		patient := tools.Fetch(tools.FetchOptions{Allow: []string{url}})
		result := with(t, h, patient, func(ctx *turns.DispatchContext) error {
			time.AfterFunc(100*time.Millisecond, func() { ctx.Abort(nil) })
			_, err := patient.Executor(ctx)(map[string]any{"url": url + "/docs/slow"})
			return err
		})
		if result.Status != event.Aborted {
			t.Errorf("%s, %v", result.Status, result.Err)
		}
	})
}

// Options that break a rule are refused where the tool is used, and the host's own list counts too.
func TestFetchRefuses(t *testing.T) {
	builtintest.OnEngines(t, func(t *testing.T, h *turns.Host) {
		for _, o := range []tools.FetchOptions{{}, {Allow: []string{"example.com"}}, {Allow: []string{"https://example.com"}, MaxBytes: 1 << 30}} {
			r, err := turns.New(t.Context(), turns.Config{
				Host: h, Executor: func(*turns.DispatchContext, *turns.Helpers) error { return nil }, Tools: []*turns.Tool{tools.Fetch(o)},
			})
			if err == nil {
				_, err = r.Run(t.Context(), turns.Input{Message: "x"})
				r.Close()
			}
			if !errors.Is(err, host.CodeInvalidInitialToolValue) {
				t.Errorf("%+v: %v", o, err)
			}
		}
	})
}
