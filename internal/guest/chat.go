package guest

import (
	"unsafe"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/trust"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// chatExecutor runs package chat as a runner's executor.
type chatExecutor struct{ executor *chat.Executor }

// chat makes the chat executor of a runner, or of a model of an agent.
func (in *Instance) chat(options []byte) (runtime.Executor, error) {
	e, err := chat.New(valueOf(options), in.providers...)
	if err != nil {
		return nil, err
	}
	return chatExecutor{e}, nil
}

// Execute implements runtime.Executor.
func (e chatExecutor) Execute(task runtime.Task, d *runtime.Dispatch) error {
	return e.executor.Execute(newChatDispatch(task, d))
}

// Measure implements runtime.Measurer.
func (e chatExecutor) Measure(task runtime.Task, d *runtime.Dispatch, without map[int64]bool, visit func(text []byte, handles []int64, inside bool)) error {
	c := newChatDispatch(task, d)
	c.without = without
	return e.executor.Measure(c, visit)
}

// chatDispatch adapts a dispatch to the chat executor. It embeds the dispatch for everything else.
type chatDispatch struct {
	*runtime.Dispatch
	task    runtime.Task
	limits  abi.Limits
	prompt  string         // of the system
	without map[int64]bool // records to leave out; nil for none

	// fill puts the data of media into a request; nil if the host has them.
	fill func(body []byte, splices []runtime.Splice) []byte
}

//go:noinline
func newChatDispatch(task runtime.Task, d *runtime.Dispatch) *chatDispatch {
	return &chatDispatch{Dispatch: d, task: task, limits: task.(*coroutine).in.limits, prompt: d.Turn().SystemPrompt}
}

// Records implements chat.Dispatch.
func (c *chatDispatch) Records(kind record.Kind, yield func(handle int64, body []byte) bool) {
	c.Dispatch.Records(kind, func(handle int64, body []byte) bool {
		return c.without[handle] || yield(handle, body)
	})
}

// RecordsFrom implements chat.Dispatch.
func (c *chatDispatch) RecordsFrom(kind record.Kind, n int, yield func(handle int64, body []byte)) {
	c.Dispatch.RecordsFrom(kind, n, func(handle int64, body []byte) {
		if !c.without[handle] {
			yield(handle, body)
		}
	})
}

// Version implements chat.Dispatch. A view that leaves out records must not be cached.
func (c *chatDispatch) Version(kind record.Kind) (version uint32, size int) {
	if len(c.without) > 0 {
		return 0, -1
	}
	return c.Dispatch.Version(kind)
}

var (
	_ chat.Dispatch    = (*chatDispatch)(nil)
	_ runtime.Measurer = chatExecutor{}
)

func (c *chatDispatch) Stamp() int64               { return c.Turn().Stamp() }
func (c *chatDispatch) Floor(ms int64)             { c.Turn().Floor(ms) }
func (c *chatDispatch) Elapsed() uint64            { return c.Turn().Elapsed() }
func (c *chatDispatch) Now() int64                 { return c.Turn().Now + int64(c.Elapsed()) }
func (c *chatDispatch) Sleep(ms uint64) error      { return c.task.Sleep(c.Number(), ms) }
func (c *chatDispatch) Random() uint64             { return c.Turn().Random() }
func (c *chatDispatch) NewID(prefix string) string { return c.Turn().NewID(prefix) }
func (c *chatDispatch) Nonce(kind record.Kind, id []byte) string {
	return trust.Nonce(c.Turn().Seed, []byte{byte(kind)}, id)
}
func (c *chatDispatch) SystemPrompt() string { return c.prompt }

func (c *chatDispatch) Stash(key string) ([]byte, bool) { return c.Turn().Stash(c.Number()).Get(key) }

func (c *chatDispatch) Instructions(yield func(text []byte) bool) {
	c.Records(record.Instructions, func(_ int64, body []byte) bool {
		text, _ := value.String(body)
		return yield(text)
	})
}

func (c *chatDispatch) Tools(yield func(*runtime.Tool) bool) { c.Dispatch.Tools().Visible(yield) }

func (c *chatDispatch) Tool(name string) (*runtime.Tool, bool) { return c.Dispatch.Tools().Get(name) }

func (c *chatDispatch) ArtifactSize(kind record.Kind, handle int64, part int) (bytes, lines uint64, err error) {
	return c.Dispatch.ArtifactSize(c.task, kind, handle, part)
}

func (c *chatDispatch) ArtifactText(kind record.Kind, handle int64, part int) ([]byte, error) {
	return c.Dispatch.ArtifactText(c.task, kind, handle, part)
}

func (c *chatDispatch) MediaSize(handle int64, part int) (int64, error) {
	return c.Dispatch.MediaSize(c.task, handle, part)
}

func (c *chatDispatch) ReaderTools(class string) []string { return runtime.ReaderTools(class) }

// fits rejects an answer too large for the frame that carries it to the host.
func (c *chatDispatch) fits(size int) error {
	limit := int(min(c.limits.Frame-c.limits.Frame/16, c.limits.String))
	if size > limit {
		return fault.New(fault.ABILimitExceeded, "an answer of "+itoa(int64(size))+" bytes")
	}
	return nil
}

func (c *chatDispatch) ReportMessage(id string, delta []byte, complete bool) error {
	return c.report(runtime.MessageStream, id, delta, complete)
}

func (c *chatDispatch) ReportThought(id string, delta []byte, complete bool) error {
	return c.report(runtime.ThoughtStream, id, delta, complete)
}

func (c *chatDispatch) report(kind runtime.StreamKind, id string, delta []byte, complete bool) error {
	if err := c.holds(delta); err != nil {
		return err
	}
	return c.Report(kind, bytesOf(id), delta, complete)
}

// holds counts the bytes of an answer, and rejects an answer that is too large.
func (c *chatDispatch) holds(delta []byte) error {
	if err := c.fits(len(delta)); err != nil {
		return err
	}
	return c.HoldStream(len(delta))
}

func (c *chatDispatch) SealMessage(id string, interrupted bool) error {
	return c.seal(runtime.MessageStream, id, interrupted)
}

func (c *chatDispatch) SealThought(id string, interrupted bool) error {
	return c.seal(runtime.ThoughtStream, id, interrupted)
}

func (c *chatDispatch) seal(kind runtime.StreamKind, id string, interrupted bool) error {
	if interrupted {
		return c.Interrupt(kind, bytesOf(id), nil)
	}
	return c.Report(kind, bytesOf(id), nil, true)
}

func (c *chatDispatch) ReportToolCall(id string, r runtime.ToolCallReport) error {
	if err := c.fits(len(id) + len(r.Args) + len(r.Results)); err != nil {
		return err
	}
	return c.Dispatch.ReportToolCall(id, r)
}

func (c *chatDispatch) ReportStats(stats []byte) error {
	c.Dispatch.ReportStats(stats)
	return nil
}

func (c *chatDispatch) Log(level chat.Level, kind, message string, payload []byte) {
	c.Dispatch.Log(uint8(level), kind, message, payload)
}

func (c *chatDispatch) StoreMessage(body []byte) error { return c.store(record.Messages, body) }
func (c *chatDispatch) StoreThought(body []byte) error { return c.store(record.Thoughts, body) }

func (c *chatDispatch) StoreToolCall(body []byte, kept uint32) error {
	if err := c.fits(len(body)); err != nil {
		return err
	}
	return c.Dispatch.StoreToolCall(body, kept)
}

func (c *chatDispatch) store(kind record.Kind, body []byte) error {
	if err := c.fits(len(body)); err != nil {
		return err
	}
	return c.StoreBody(kind, body)
}

func (c *chatDispatch) ExecuteTool(tool *runtime.Tool, args []byte, run runtime.ToolRun, timeout uint64) (r runtime.ToolResult, err error) {
	if err := c.fits(len(args)); err != nil {
		return r, err
	}
	if timeout == 0 {
		return c.Dispatch.ExecuteTool(c.task, tool, args, run)
	}
	run.Timed = true
	late := fault.New(fault.ChatToolTimeout, "more than "+itoa(int64(timeout))+" ms")
	if c.task.(*coroutine).within(timeout, late, func(task runtime.Task) {
		r, err = c.Dispatch.ExecuteTool(task, tool, args, run)
	}, func(cause error) {
		err = cause
	}) {
		return runtime.ToolResult{ExecutionID: r.ExecutionID}, late
	}
	return r, err
}

func (c *chatDispatch) Each(n, atOnce int, body func(d chat.Dispatch, i int) error) error {
	return c.task.(*coroutine).each(n, atOnce, func(task runtime.Task, i int) error {
		d := *c
		d.task = task
		return body(&d, i)
	})
}

func (c *chatDispatch) HTTP(r *runtime.HTTPRequest) (runtime.Stream, error) {
	r.Context = c.Number()
	if c.fill != nil {
		r.Body, r.Splices = c.fill(r.Body, r.Splices), nil
	}
	return c.task.Request(r)
}

func (c *chatDispatch) Model(r *runtime.ModelRequest) (runtime.Stream, error) {
	r.Context = c.Number()
	if c.fill != nil {
		r.Body, r.Splices = c.fill(r.Body, r.Splices), nil
	}
	return c.task.Generate(r)
}

// bytesOf returns the bytes of a string, which must not be changed.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
