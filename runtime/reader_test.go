package runtime

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// reading runs fn as the executor of a dispatch whose tool call c has the text as its result.
func reading(t *testing.T, text string, config Config, fn func(s *seam)) *play {
	t.Helper()
	p := &play{t: t, config: config, library: library{texts: map[string]string{"c": text}}}
	p.prepare = func(p *play) { p.add(0, record.ToolCalls, p.body("c", artifactCall("c", classText, 0))) }
	p.executor = func(s *seam) error { fn(s); return s.ack() }
	p.run()
	return p
}

// H1 and H3, as far as the schemas allow the arguments.
func TestReaderTools(t *testing.T) {
	reading(t, "alpha\nbeta\ngamma\ndelta\nepsilon", Config{}, func(s *seam) {
		for _, c := range []struct{ tool, args, want string }{
			{"head", `{"n":3}`, "alpha\nbeta\ngamma"},
			{"head", `{}`, "alpha\nbeta\ngamma\ndelta\nepsilon"},
			{"head", `{"n":100}`, "alpha\nbeta\ngamma\ndelta\nepsilon"},
			{"head", `{"n":9007199254740991}`, "alpha\nbeta\ngamma\ndelta\nepsilon"},
			{"head", `{"n":1e300}`, "alpha\nbeta\ngamma\ndelta\nepsilon"},
			{"tail", `{"n":2}`, "delta\nepsilon"},
			{"tail", `{}`, "alpha\nbeta\ngamma\ndelta\nepsilon"},
			{"cat", `{"start":1,"end":4}`, "beta\ngamma\ndelta"},
			{"cat", `{"start":3,"end":100}`, "delta\nepsilon"},
			{"cat", `{"start":3}`, "delta\nepsilon"},
			{"cat", `{"end":1}`, "alpha"},
			{"cat", `{"start":5}`, "(empty list)"},
			{"cat", `{"start":9007199254740991}`, "(empty list)"},
			{"cat", `{"start":3,"end":2}`, "(empty list)"},
			{"byte_length", `{}`, "30"},
			{"line_count", `{}`, "5"},
			{"estimate_tokens", `{"encoding":"claude"}`, "9"}, // 30 / 3.5
		} {
			args := strings.Replace(c.args, "{", `{"callId":"c",`, 1)
			args = strings.Replace(args, ",}", "}", 1)
			if got, err := s.reads("artifact_"+c.tool, args); got != c.want || err != nil {
				t.Errorf("%s %s: %q, %v, want %q", c.tool, c.args, got, err, c.want)
			}
		}
		for _, c := range []struct{ tool, args string }{
			{"head", `{"callId":"c","n":0}`},
			{"head", `{"callId":"c","n":1.5}`},
			{"head", `{"callId":"c","n":"3"}`},
			{"head", `{"n":3}`},
			{"cat", `{"callId":"c","start":-1}`},
			{"cat", `{"callId":"c","step":1}`},
			{"head", `{"callId":"d"}`},
			{"estimate_tokens", `{"callId":"c"}`},
			{"estimate_tokens", `{"callId":"c","encoding":"klingon"}`},
		} {
			if got, err := s.reads("artifact_"+c.tool, c.args); !errors.Is(err, fault.InvalidToolArgs) {
				t.Errorf("%s %s: %q, %v", c.tool, c.args, got, err)
			}
		}
	})
}

// H17, H4: only line feeds end lines.
func TestReaderLines(t *testing.T) {
	for text, want := range map[string][2]string{
		"":               {"(empty list)", "0 0"},
		"\n":             {"\n", "2 1"},
		"a\nb\n":         {"a\nb\n", "3 4"},
		"a\r\nb\r\n\r\n": {"a\r\nb\r\n\r\n", "4 8"},
		"é\na":           {"é\na", "2 4"},
	} {
		reading(t, text, Config{}, func(s *seam) {
			all, err := s.reads("artifact_cat", `{"callId":"c"}`)
			s.must(err)
			lines, _ := s.reads("artifact_line_count", `{"callId":"c"}`)
			bytes, _ := s.reads("artifact_byte_length", `{"callId":"c"}`)
			if all != want[0] || lines+" "+bytes != want[1] {
				t.Errorf("%q: %q, %s lines, %s bytes", text, all, lines, bytes)
			}
		})
	}
}

// H5: hints are trusted, and the reader is not asked.
func TestHintsAreBelieved(t *testing.T) {
	for _, hint := range [][2]int64{{99, 7}, {0, 0}} {
		p := &play{t: t}
		p.prepare = func(p *play) {
			body := record.AppendRetrievable(nil, record.RetrievableFields{
				ID: "r", Part: record.AppendArtifact(nil, classText, hint[0], hint[1], ""), TrustTier: "first-party",
			})
			p.add(0, record.Retrievables, p.body("r", body))
		}
		p.executor = func(s *seam) error {
			bytes, _ := s.reads("artifact_byte_length", `{"callId":"r"}`)
			lines, _ := s.reads("artifact_line_count", `{"callId":"r"}`)
			if got, want := bytes+" "+lines, fmt.Sprint(hint[0], " ", hint[1]); got != want || len(s.library.inOrder) != 0 {
				t.Errorf("bytes and lines %s, not %s; effects %v", got, want, s.library.inOrder)
			}
			return s.ack()
		}
		p.run()
	}
}

// An answer has a limit, and says so.
func TestPagesAreBounded(t *testing.T) {
	line := strings.Repeat("x", 99)
	text := strings.Repeat(line+"\n", 5000)
	p := reading(t, text, Config{}, func(s *seam) {
		got, err := s.reads("artifact_cat", `{"callId":"c","start":10}`)
		s.must(err)
		want := strings.Repeat(line+"\n", 1310) + "[The result is cut: line 1320 of 5001 is next. Go on with artifact_cat and start 1320.]"
		if got != want {
			t.Errorf("%d bytes, end %q", len(got), got[len(got)-200:])
		}
		got, err = s.reads("artifact_tail", `{"callId":"c","n":2000}`)
		s.must(err)
		if !strings.HasSuffix(got, "[The result is cut: line 4311 of 5001 is next. Go on with artifact_cat and start 4311.]") {
			t.Errorf("tail: end %q", got[len(got)-200:])
		}
	})
	if n := len(p.library.inOrder); n > 6 {
		t.Errorf("%d reads for two pages: %v", n, p.library.inOrder)
	}
	reading(t, strings.Repeat("é", 100_000)+"\nshort", Config{}, func(s *seam) {
		got, err := s.reads("artifact_cat", `{"callId":"c"}`)
		s.must(err)
		want := strings.Repeat("é", maxPage/2) + "\n[The line is cut: it has 200000 bytes.]\n[The result is cut: line 1 of 2 is next. Go on with artifact_cat and start 1.]"
		if got != want {
			t.Errorf("%d bytes, end %q", len(got), got[len(got)-200:])
		}
	})
}

// A line that does not fit after a short one is the next to read, and not skipped.
func TestLongLineBehindAShortOne(t *testing.T) {
	long := strings.Repeat("b", maxPage)
	reading(t, "a\n"+long+"\nc", Config{}, func(s *seam) {
		for _, c := range []struct{ tool, args, want string }{
			{"cat", ``, "a\n[The result is cut: line 1 of 3 is next. Go on with artifact_cat and start 1.]"},
			{"head", `,"n":2`, "a\n[The result is cut: line 1 of 3 is next. Go on with artifact_cat and start 1.]"},
			{"tail", `,"n":2`, long + "\n[The result is cut: line 2 of 3 is next. Go on with artifact_cat and start 2.]"},
			{"cat", `,"start":1,"end":2`, long},
			{"cat", `,"start":0,"end":1`, "a"},
		} {
			got, err := s.reads("artifact_"+c.tool, `{"callId":"c"`+c.args+`}`)
			if err != nil || got != c.want {
				t.Errorf("%s %s: %d bytes, begins %.20q, ends %q, %v", c.tool, c.args, len(got), got, got[max(0, len(got)-100):], err)
			}
		}
	})
}

// Lines longer than a batch are read alone; those over the bound fail with a specific code.
func TestLongLines(t *testing.T) {
	text := "a\n" + strings.Repeat("b", 300<<10) + "\nc"
	reading(t, text, Config{}, func(s *seam) {
		if got, err := s.reads("artifact_estimate_tokens", `{"callId":"c","encoding":"claude"}`); got != fmt.Sprint((2*len(text)+6)/7) || err != nil {
			t.Errorf("%s, %v", got, err)
		}
	})
	reading(t, text, Config{Frame: 1 << 20}, func(s *seam) {
		if got, err := s.reads("artifact_cat", `{"callId":"c"}`); !errors.Is(err, fault.ArtifactTooLarge) || !errors.Is(err, fault.ToolDownstreamError) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if got, err := s.reads("artifact_head", `{"callId":"c","n":1}`); got != "a" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// Batches observe the limit on arrays.
func TestBatchesAreBounded(t *testing.T) {
	p := reading(t, strings.Repeat("x\n", 99), Config{Array: 10}, func(s *seam) {
		s.library.tamper = func(e *Read) {
			if e.Op == ReadLines && (len(e.Lines) > 10 || e.To-e.From > 10) {
				t.Errorf("lines %d to %d", e.From, e.To)
			}
		}
		got, err := s.reads("artifact_cat", `{"callId":"c"}`)
		if got != strings.Repeat("x\n", 99) || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	})
	if n := len(p.library.inOrder); n != 10 {
		t.Errorf("%d reads", n)
	}
}

// Readers may fail or answer nonsense.
func TestBadReaders(t *testing.T) {
	for _, c := range []struct {
		name   string
		tamper func(e *Read)
		want   error
	}{
		{"fewer lines than it counts", func(e *Read) { e.Lines = nil }, fault.NotASpoolReader},
		{"more lines than asked for", func(e *Read) { e.Lines = make([][]byte, 100) }, fault.NotASpoolReader},
		{"a count that shrinks", func(e *Read) {
			if e.From > 0 {
				e.Count, e.Lines = 1, nil
			} else {
				e.Lines = e.Lines[:1]
			}
		}, nil},
		{"a count that grows", func(e *Read) { e.Count += 1 << 50; e.Lines = e.Lines[:min(len(e.Lines), 2)] }, fault.NotASpoolReader},
	} {
		reading(t, "a\nb\nc", Config{}, func(s *seam) {
			s.library.tamper = c.tamper
			got, err := s.reads("artifact_cat", `{"callId":"c"}`)
			if c.want == nil && err != nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%s: %q, %v", c.name, got, err)
			}
		})
	}
	p := reading(t, "a", Config{}, func(s *seam) {
		s.library.failRead = errX
		_, err := s.reads("artifact_line_count", `{"callId":"c"}`)
		if !errors.Is(err, fault.ToolDownstreamError) || errors.Unwrap(err) != errX {
			t.Errorf("%v", err)
		}
	})
	p.want("tS dS iS(0) xS xE(true) iE(0,ack) dE(ack,1) tE(ack)")
}

// An abort ends a long read between batches.
func TestReadingIsAborted(t *testing.T) {
	p := reading(t, strings.Repeat("x\n", 99), Config{Array: 10}, func(s *seam) {
		s.library.tamper = func(e *Read) {
			if e.From >= 20 {
				s.d.Abort(nil)
			}
		}
		_, err := s.reads("artifact_cat", `{"callId":"c"}`)
		if !fault.IsAbort(err) {
			t.Errorf("%v", err)
		}
	})
	if n := len(p.library.inOrder); n != 3 {
		t.Errorf("%d reads", n)
	}
}

// Decision 22.
func TestEstimates(t *testing.T) {
	text := "aé€😀" + strings.Repeat("b", 100) + "\n\nc" // 5 + 100 + 3 UTF-16 units
	p := reading(t, text, Config{Encodings: []string{"gemma"}}, func(s *seam) {
		for encoding, want := range map[string]string{"claude": "31", "gemma": "77", "llama2": "27"} {
			for range 2 {
				got, err := s.reads("artifact_estimate_tokens", `{"callId":"c","encoding":"`+encoding+`"}`)
				if got != want || err != nil {
					t.Errorf("%s: %s, %v, want %s", encoding, got, err, want)
				}
			}
		}
	})
	warned := 0
	for _, e := range p.events {
		if w, ok := e.payload.(*WarningEvent); ok {
			warned++
			want := `{"encoding":"llama2","textPreview":"aé€😀` + strings.Repeat("b", 75) + `"}`
			if w.Kind != "token-estimation-degraded" || !w.FromDispatch || !value.Equal(w.Payload, valueFrom(want)) {
				t.Errorf("%+v", w)
			}
		}
	}
	if warned != 1 {
		t.Errorf("%d warnings", warned)
	}
	if got := strings.Join(p.library.inOrder, ","); !strings.Contains(got, "estimate gemma of ") {
		t.Errorf("effects %s", got)
	}
}
