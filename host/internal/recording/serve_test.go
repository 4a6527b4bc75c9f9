package recording

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/turncore/turncore/host"
)

func post(t *testing.T, url, body string) (*http.Response, string) {
	t.Helper()
	response, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(text)
}

func TestServer(t *testing.T) {
	r := made(t, "s", `{"model": "a"}`, `{"model": "b"}`)
	r.Interactions[0].Response.Body = strings.Repeat("data: {\"text\": \"Grüße\"}\r\n\r\n", 100)
	r.Interactions[1].Response.Status = 429
	r.Interactions[1].Response.ContentType = "application/json"
	r.Interactions[1].Response.Body = "{}"
	s := NewServer(r, 1)
	web := httptest.NewServer(s)
	defer web.Close()

	response, body := post(t, web.URL+"/v1/chat/completions", `{"model": "a"}`)
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/event-stream" || response.Header.Get("Date") != "" || body != r.Interactions[0].Response.Body {
		t.Errorf("first response %v with %d bytes", response, len(body))
	}
	response, body = post(t, web.URL+"/chat/completions", `{"model": "c"}`)
	if response.StatusCode != 429 || response.Header.Get("Content-Type") != "application/json" || body != "{}" {
		t.Errorf("second response %v: %s", response, body)
	}
	response, _ = post(t, web.URL+"/chat/completions", `{}`)
	if response.StatusCode != 404 {
		t.Errorf("third response %v", response)
	}
	list := s.Differences()
	if s.Requests() != 3 || len(list) != 2 || list[0].Request != 1 || list[0].Path != "/model" || list[1].Request != 2 {
		t.Errorf("%d requests, differences %v", s.Requests(), list)
	}
}

// TestCut reads through a pipe that gives one byte at a time, and all at once: the parts are the same.
func TestCut(t *testing.T) {
	text := strings.Repeat("0123456789", 300)
	parts := func(seed uint32, r io.Reader) (list []int) {
		body := Cut(io.NopCloser(r), host.SeededEntropy(seed))
		buf, all := make([]byte, 4096), ""
		for {
			n, err := body.Read(buf)
			if all += string(buf[:n]); err == io.EOF {
				break
			}
			if err != nil || n < 1 || n > maxPart {
				t.Fatalf("a part of %d bytes, %v", n, err)
			}
			list = append(list, n)
		}
		if all != text {
			t.Fatalf("%d bytes instead of %d", len(all), len(text))
		}
		return list
	}
	a, again := parts(1, strings.NewReader(text)), parts(1, iotest.OneByteReader(strings.NewReader(text)))
	if !slices.Equal(a, again) {
		t.Errorf("the same seed cuts into %v and %v", a, again)
	}
	if b := parts(2, strings.NewReader(text)); slices.Equal(a, b) {
		t.Error("another seed cuts into the same parts")
	}
	broken := Cut(io.NopCloser(iotest.ErrReader(io.ErrClosedPipe)), host.SeededEntropy(1))
	if _, err := broken.Read(make([]byte, 9)); err != io.ErrClosedPipe {
		t.Errorf("a body that fails: %v", err)
	}
}
