package recording

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
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
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/event-stream" || body != r.Interactions[0].Response.Body {
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

func TestServerCutsByTheSeed(t *testing.T) {
	parts := func(seed uint32) (list []int) {
		s := NewServer(made(t, "p", `{}`), seed)
		for range 200 {
			list = append(list, s.part())
		}
		return list
	}
	a, again, b := parts(1), parts(1), parts(2)
	same := 0
	for i := range a {
		if a[i] != again[i] {
			t.Fatal("the same seed cuts differently")
		}
		if a[i] < 1 || a[i] > maxPart {
			t.Fatalf("a part of %d bytes", a[i])
		}
		if a[i] == b[i] {
			same++
		}
	}
	if same > 50 {
		t.Errorf("%d of 200 parts are equal under another seed", same)
	}
}
