// Package fetch handles the tool fetch. It asks the host for a web page at an address that the tool's options allow,
// follows redirects to such addresses, and answers with the text of the page. Only the full module has it.
package fetch

import (
	"errors"
	"slices"
	"strconv"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/fetch/address"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

const (
	fetchAccept = "text/html, text/plain, text/markdown, application/json, application/xml;q=0.9, */*;q=0.5"
	maxExcerpt  = 1 << 10 // bytes of a text that an error holds
	maxPreview  = 2 << 10 // bytes that are answered of a text that is stored
)

// exchange is a request of fetch on its way.
type exchange struct {
	*fetcher
	task   runtime.Task
	d      *runtime.Dispatch
	due    uint64 // elapsed time at which it is over
	stream runtime.Stream

	method  string
	at      address.Address
	headers [][2]string
	body    []byte
}

// handle fetches an address: it goes where the tool allows, one redirect after another, and answers what is there as
// text. What goes wrong is E_TOOL_FETCH, or the host's error of the request.
func (f *fetcher) handle(task runtime.Task, d *runtime.Dispatch, args []byte) ([]byte, error) {
	x := exchange{
		fetcher: f, task: task, d: d, due: d.Turn().Elapsed() + uint64(f.numbers[timeoutMs]), method: runtime.TextArgument(args, "method"),
		headers: [][2]string{{"accept", fetchAccept}},
	}
	// The tool's schema has the methods that it was given; the first is the default.
	if body := runtime.TextArgument(args, "body"); body != "" && slices.Index(fetchMethods, x.method) > 2 {
		x.body = []byte(body)
		mime := runtime.TextArgument(args, "contentType")
		if mime == "" { // a model's way to leave it out
			mime = "application/json"
		}
		x.headers = append(x.headers, [2]string{"content-type", mime})
	}
	if err := x.visit(runtime.TextArgument(args, "url"), ""); err != nil {
		return nil, err
	}
	for left := f.numbers[redirects]; ; left-- {
		p, err := x.send()
		if err != nil {
			return nil, err
		}
		location := p.header("location")
		if location == "" || !isRedirect(p.status) {
			return x.answer(&p)
		}
		if left == 0 {
			return nil, x.fail("redirects once more than ", strconv.FormatInt(f.numbers[redirects], 10)+" times")
		}
		// As the Fetch standard has it.
		if p.status == 303 && x.method != "HEAD" || p.status < 303 && x.method == "POST" {
			x.method, x.body, x.headers = "GET", nil, x.headers[:1]
		}
		if err := x.visit(location, " redirects to "); err != nil {
			return nil, err
		}
	}
}

// fail is an error about the address.
//
//go:noinline
func (x *exchange) fail(what, detail string) error {
	return fault.New(fault.ToolFetch, x.at.String()+" "+what+detail)
}

// visit makes a reference the address that is fetched, if that is allowed.
func (x *exchange) visit(ref, from string) error {
	to, err := address.Parse(ref)
	if from != "" {
		to, err = x.at.Resolve(ref)
		from = x.at.String() + from
	}
	problem, name := "", strconv.Quote(clip([]byte(ref), maxExcerpt))
	if err != nil {
		problem = "cannot be: " + err.Error()
	} else {
		problem, name = x.allowed(to), to.String()
	}
	if problem != "" {
		return fault.New(fault.ToolFetch, from+name+" "+problem)
	}
	x.at = to
	return nil
}

//go:noinline
func isRedirect(status int) bool {
	return status >= 301 && status <= 303 || status == 307 || status == 308
}

// send makes one request and reads what comes back.
func (x *exchange) send() (p page, err error) {
	x.stream, err = x.task.Request(&runtime.HTTPRequest{
		Context: x.d.Number(), Method: x.method, URL: x.at.String(), Headers: x.headers, Body: x.body, Redirect: runtime.RedirectManual,
	})
	if err != nil {
		return p, err
	}
	for {
		c, more, err := x.next()
		if err != nil || !more {
			return p, err
		}
		if c.Status != 0 {
			p.status, p.headers = c.Status, c.Headers
			if isRedirect(p.status) {
				break
			}
		}
		p.body = append(p.body, c.Data...)
		if most := x.most(); len(p.body) > most {
			p.body, p.cut = p.body[:most], true
			break
		}
	}
	x.stream.Cancel()
	return p, nil
}

// most is how many bytes of a page are read, and of its text are kept.
func (x *exchange) most() int { return min(int(x.numbers[maxBytes]), x.d.ReadBound()) }

// next waits for a part of the answer, as long as there is time.
func (x *exchange) next() (c runtime.Chunk, more bool, err error) {
	now := x.d.Turn().Elapsed()
	if now < x.due {
		x.stream.Idle(x.due - now)
		if c, more, err = x.stream.Next(); !errors.Is(err, runtime.ErrIdle) {
			return c, more, err
		}
	}
	x.stream.Cancel()
	return c, false, x.fail("took longer than ", strconv.FormatInt(x.numbers[timeoutMs], 10)+" ms")
}

// answer makes the tool's result of a page.
func (x *exchange) answer(p *page) ([]byte, error) {
	most := x.most()
	text, problem := p.text(x.at, most)
	if p.status < 200 || p.status > 299 {
		return nil, x.fail("answered with status "+strconv.Itoa(p.status)+": ", clip(text, maxExcerpt))
	}
	if x.method == "HEAD" {
		for _, name := range [...]string{"content-length", "last-modified", "etag"} {
			if v := p.header(name); v != "" {
				text = append(text, name+": "+v+"\n"...)
			}
		}
	} else if problem != "" {
		return nil, x.fail("is "+p.kind(), problem)
	}
	if len(text) > most {
		text, p.cut = whole(text[:most]), true
	}
	inline := min(int(x.numbers[maxInline]), most)
	note := ""
	if len(text) > inline && x.cut {
		text, p.cut = whole(text[:inline]), true
	}
	if len(text) > inline {
		t := x.d.Turn()
		id, at := t.NewID("fetch"), t.Stamp()
		err := x.d.StoreDocument(x.task, record.AppendRetrievable(nil, record.RetrievableFields{
			ID: id, Content: text, TrustTier: "third-party-public", Source: x.at.String(), Kind: p.kind(), CreatedAt: at, UpdatedAt: at,
		}))
		if err != nil {
			return nil, err
		}
		note = ", " + strconv.Itoa(len(text)) + " bytes of text. They are in the document \"" + id +
			"\": read it with the artifact tools, by this callId. It begins:"
		text = whole(text[:min(len(text), maxPreview)])
	}
	if p.cut {
		note = ", cut off" + note
	}
	head := x.at.String() + " (" + p.kind() + ")" + note + "\n\n"
	return value.AppendText(nil, append([]byte(head), text...)), nil
}
