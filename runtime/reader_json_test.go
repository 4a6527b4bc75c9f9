package runtime

import (
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// Package artifact's tests cover the answers in detail.
func TestJSONTools(t *testing.T) {
	play := func(text, class string, fn func(s *seam)) {
		p := &play{t: t, library: library{texts: map[string]string{"c": text}}}
		p.prepare = func(p *play) {
			p.add(0, record.ToolCalls, p.body("c", artifactCall("c", class, 0)), p.body("t", artifactCall("t", classText, 0)))
		}
		p.executor = func(s *seam) error { fn(s); return s.ack() }
		p.run()
	}
	check := func(s *seam, cases map[string]string) {
		t.Helper()
		for call, want := range cases {
			tool, args, _ := strings.Cut(call, " ")
			if args != "" {
				args = "," + args
			}
			if got, err := s.reads("artifact_json_"+tool, `{"callId":"c"`+args+`}`); got != want || err != nil {
				t.Errorf("%s: %q, %v, want %q", call, got, err, want)
			}
		}
	}
	play(`{"b":[1,{"n":"x"},{"n":"y"}],"a":2}`, classJSON, func(s *seam) {
		check(s, map[string]string{
			"type": "json", "keys": "b\na", "length": "1",
			`get "path":"$.b[*].n"`:    "x\ny",
			`get "path":"$.a"`:         "[\n  2\n]",
			`get "path":"$.none"`:      "(empty list)",
			`slice "start":0,"end":-1`: "[\n  {\n    \"b\": [\n      1,\n      {\n        \"n\": \"x\"\n      },\n      {\n        \"n\": \"y\"\n      }\n    ],\n    \"a\": 2\n  }\n]",
		})
		if s.offered("artifact_json_get") != "c" || s.offered("artifact_head") != "c t" {
			t.Errorf("offered %s and %s", s.offered("artifact_json_get"), s.offered("artifact_head"))
		}
		if _, err := s.reads("artifact_json_get", `{"callId":"c","path":"b"}`); !errors.Is(err, fault.ToolDownstreamError) {
			t.Errorf("%v", err)
		}
	})
	play("{\"n\":1}\n\n{\"n\":2,\"m\":3}\n", classJSON, func(s *seam) {
		check(s, map[string]string{
			"type": "jsonl", "keys": "n\nm", "length": "2", `pluck "path":"$.n"`: "[\n  1,\n  2\n]",
			`filter "path":"$.m"`: "[\n  {\n    \"n\": 2,\n    \"m\": 3\n  }\n]", `slice "start":-1`: "[\n  {\n    \"n\": 2,\n    \"m\": 3\n  }\n]",
		})
	})
	play("no JSON", classJSON, func(s *seam) {
		if _, err := s.reads("artifact_json_type", `{"callId":"c"}`); !errors.Is(err, fault.ToolDownstreamError) {
			t.Errorf("%v", err)
		}
	})
	play(`["`+strings.Repeat("x", 200_000)+`"]`, classJSON, func(s *seam) {
		got, err := s.reads("artifact_json_get", `{"callId":"c","path":"$[0]"}`)
		if !strings.HasSuffix(got, "x\n[The result is cut. Ask for less.]") || len(got) > maxPage+100 || err != nil {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
	play(`["`+strings.Repeat("x", 5<<20)+`"]`, classJSON, func(s *seam) {
		if _, err := s.reads("artifact_json_length", `{"callId":"c"}`); !errors.Is(err, fault.ArtifactTooLarge) {
			t.Errorf("%v", err)
		}
	})
	play(strings.Repeat("[", 10_000), classJSON, func(s *seam) {
		if _, err := s.reads("artifact_json_length", `{"callId":"c"}`); !errors.Is(err, fault.ToolDownstreamError) {
			t.Errorf("%v", err)
		}
	})
	play("x", classText, func(s *seam) {
		if _, ok := s.d.registry.Get("artifact_json_get"); ok {
			t.Error("JSON tools without a JSON artifact")
		}
	})
}
