package turns_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// longText is a text of lines that all look alike, as large as it is told to be, which nobody holds.
type longText struct {
	lines int
	asked atomic.Int64 // lines
}

const longLine = 50 // bytes of a line, its line feed included

func (l *longText) line(n int) string {
	mark := "row"
	if n%1_000_000 == 999_999 {
		mark = "find me"
	}
	text := mark + " " + strconv.Itoa(n)
	return text + strings.Repeat(".", longLine-1-len(text))
}

func (l *longText) Line(_ context.Context, n int) (string, error) {
	if n >= l.lines {
		return "", io.EOF
	}
	l.asked.Add(1)
	return l.line(n), nil
}

func (l *longText) ReadLines(_ context.Context, from int, yield func([]byte) bool) error {
	for n := from; n < l.lines; n++ {
		l.asked.Add(1)
		if !yield([]byte(l.line(n))) {
			break
		}
	}
	return nil
}

func (l *longText) ReadAll(context.Context) (string, error) {
	return "", errors.New("nobody may ask for the whole text")
}
func (l *longText) LineCount(context.Context) (int, error) { return l.lines, nil }
func (l *longText) ByteLength() (int64, bool)              { return int64(l.lines)*longLine - 1, true }

// measured is an engine whose instances tell how much memory they have.
type measured struct {
	host.Engine
	highest *atomic.Uint64
}

type measuredInstance struct {
	host.Instance
	highest *atomic.Uint64
}

func (m measured) Open(ctx context.Context) (host.Instance, error) {
	inst, err := m.Engine.Open(ctx)
	return measuredInstance{inst, m.highest}, err
}

func (m measuredInstance) Step(dst, in []byte) ([]byte, error) {
	out, err := m.Instance.Step(dst, in)
	m.highest.Store(max(m.highest.Load(), m.Instance.MemoryBytes()))
	return out, err
}

// longLines are the lines of an artifact of 200 MB.
const longLines = 4_000_000

// An artifact of 200 MB costs the module no memory: it is read by ranges of lines, whatever is asked of it. The tools
// that go through the whole text go through a tenth of it, unless TURNCORE_LONG is set.
func TestLongArtifactsCostNoMemory(t *testing.T) {
	const most = 16 << 20 // bytes that memory may grow by
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			whole := longLines / 10
			if os.Getenv("TURNCORE_LONG") != "" {
				whole = longLines
			}
			// The module's collector goes by the clock: on a busy machine it may fall behind. The best of three counts.
			for try := 1; ; try++ {
				before, highest := memoryOfLongArtifacts(t, engine, whole)
				if highest-before <= most {
					t.Logf("memory: %d bytes, then %d", before, highest)
					return
				}
				if try == 3 {
					t.Fatalf("the instance's memory has grown by %d bytes, from %d", highest-before, before)
				}
			}
		})
	}
}

// memoryOfLongArtifacts asks for this and that of an artifact of 200 MB, and for all of one with as many lines as whole
// says. It returns how many bytes the instance's memory had before, and at most.
func memoryOfLongArtifacts(t *testing.T, engine host.Engine, whole int) (before, most uint64) {
	t.Helper()
	var highest atomic.Uint64
	h := turns.NewHost(turns.HostOptions{
		Engine: measured{engine, &highest}, Clock: host.FixedClock(host.FixedTime), Entropy: host.SeededEntropy(1),
	})
	defer func() { _ = h.Close(context.Background()) }()
	long, all := &longText{lines: longLines}, &longText{lines: whole}
	_, result := play(t, h, turns.TurnRunnerConfig{
		Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			if ctx.Iteration() == 0 {
				return errors.Join(
					ctx.StoreToolCall(called("long", record.NewSpooledArtifact(long))),
					ctx.StoreToolCall(called("all", record.NewSpooledArtifact(all))),
					ctx.StoreToolCall(called("small", record.NewSpooledArtifact(&longText{lines: 100}))),
				)
			}
			if _, err := read(ctx, "artifact_grep", `{"callId":"small","pattern":"me"}`); err != nil {
				t.Error(err)
			}
			before = highest.Load()
			for _, c := range [][3]string{
				{"artifact_head", `{"callId":"long","n":1}`, long.line(0)},
				{"artifact_tail", `{"callId":"long","n":1}`, long.line(longLines - 1)},
				{"artifact_cat", `{"callId":"long","start":3999998}`, long.line(longLines-2) + "\n" + long.line(longLines-1)},
				{"artifact_byte_length", `{"callId":"long"}`, strconv.Itoa(longLines*longLine - 1)},
				{"artifact_line_count", `{"callId":"long"}`, strconv.Itoa(longLines)},
			} {
				if got, err := read(ctx, c[0], c[1]); got != c[2] || err != nil {
					t.Errorf("%s %s: %q, %v", c[0], c[1], got, err)
				}
			}
			got, err := read(ctx, "artifact_cat", `{"callId":"long"}`)
			if !strings.HasSuffix(got, "Go on with artifact_cat and start 2621.]") || err != nil {
				t.Errorf("cat: %d bytes, %v", len(got), err)
			}
			if n := long.asked.Load(); n > 30_000 {
				t.Errorf("%d lines were read for these", n)
			}
			found := 0
			for n := 999_999; n < whole; n += 1_000_000 {
				found++
			}
			got, err = read(ctx, "artifact_grep", `{"callId":"all","pattern":"^find me \\d+9\\."}`)
			if want := strings.Count(got, "find me"); want != found || err != nil {
				t.Errorf("grep: %q, %v", got, err)
			}
			got, err = read(ctx, "artifact_estimate_tokens", `{"callId":"all","encoding":"claude"}`)
			if want := fmt.Sprint(((whole*longLine-1)*2 + 6) / 7); got != want || err != nil {
				t.Errorf("estimate: %s, %v, want %s", got, err, want)
			}
			if n := all.asked.Load(); n < 2*int64(whole) || n > 2*int64(whole)+int64(whole)/10 {
				t.Errorf("%d lines were read for two passes over %d", n, whole)
			}
			return ctx.Ack()
		},
	}, turns.TurnInput{})
	if result.Status != event.Ack {
		t.Errorf("%+v", result)
	}
	return before, highest.Load()
}
