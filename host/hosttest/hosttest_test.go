package hosttest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/wasm/full"
)

func TestEnginesGreet(t *testing.T) {
	engines := hosttest.Engines(t)
	if _, ok := full.Module(); ok != (len(engines) == 2) {
		t.Fatalf("%d engines, module there: %v", len(engines), ok)
	}
	for _, e := range engines {
		t.Run(e.Name(), func(t *testing.T) {
			i, err := e.Open(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer i.Close(context.Background())
			if _, err := host.Greet(i, abi.Hello{Features: abi.FeatureChat}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func provider(t *testing.T, script ...hosttest.Response) *hosttest.Provider {
	t.Helper()
	p, err := hosttest.NewProvider(1, script...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func post(t *testing.T, p *hosttest.Provider, body string) (*http.Response, string, error) {
	t.Helper()
	response, err := http.Post(p.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response, string(text), err
}

func TestProviderGivesItsScript(t *testing.T) {
	long := strings.Repeat("data: {\"text\": \"Grüße\"}\r\n\r\n", 500)
	p := provider(
		t, hosttest.Response{Body: long},
		hosttest.Response{Status: 429, ContentType: "application/json", Body: "{}", Header: http.Header{"Retry-After": {"7"}}},
	)
	for n, want := range []struct {
		status      int
		kind, after string
		body        string
	}{
		{200, "text/event-stream", "", long},
		{429, "application/json", "7", "{}"},
		{500, "text/plain", "", "the script has no response to request 3"},
	} {
		response, body, err := post(t, p, fmt.Sprintf("request %d", n))
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != want.status || response.Header.Get("Content-Type") != want.kind ||
			response.Header.Get("Retry-After") != want.after || body != want.body {
			t.Errorf("request %d: %v, %.60q", n, response, body)
		}
	}
	requests := p.Requests()
	if len(requests) != 3 || requests[2].Method != "POST" || requests[2].Path != "/v1/chat/completions" ||
		!bytes.Equal(requests[2].Body, []byte("request 2")) || requests[2].Header.Get("Content-Type") != "application/json" {
		t.Errorf("requests %+v", requests)
	}
}

func TestProviderFaults(t *testing.T) {
	p := provider(t, hosttest.Response{Body: "0123456789", Break: 4}, hosttest.Response{Break: -1, Body: "x"}, hosttest.Response{Body: "open", Hold: true})
	_, body, err := post(t, p, "")
	if err == nil || body != "0123" {
		t.Errorf("a broken body: %q, %v", body, err)
	}
	if _, _, err := post(t, p, ""); err == nil {
		t.Error("a connection that breaks before the status gives no error")
	}

	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if string(text) != "open" || ctx.Err() == nil {
		t.Errorf("a held response: %q, %v", text, err)
	}
}
