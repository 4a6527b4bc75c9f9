package fetch

import (
	"slices"
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/fetch/address"
	"github.com/turncore/turncore/internal/suggestion"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
)

// The methods that fetch may be given; those behind the first three send something.
var fetchMethods = []string{"GET", "HEAD", "DELETE", "POST", "PUT", "PATCH"}

// Options of fetch that are numbers, by their place in fetchNumbers.
const (
	maxBytes  = iota // bytes of a page that are read
	maxInline        // bytes of text that are answered whole
	timeoutMs        // ms that all of it may take
	redirects        // that are followed
)

var fetchNumbers = [...]struct {
	name                 string
	without, least, most int64
}{
	{"maxBytes", 1 << 20, 1, 8 << 20},
	{"maxInline", 16 << 10, 0, 1 << 20},
	{"timeoutMs", 30_000, 1, 600_000},
	{"redirects", 5, 0, 20},
}

// fetcher is a fetch tool: its options.
type fetcher struct {
	allow   []address.Rule
	methods []string
	numbers [len(fetchNumbers)]int64
	cut     bool // text that is too long is cut off, not stored
}

// New returns the handler of a fetch tool with the options in arg, a map:
//
//	allow      required: list of rules, see package address
//	methods    default ["GET", "HEAD"]
//	maxBytes   default 1 MiB: bytes of a page that are read
//	maxInline  default 16 KiB: bytes of text that are answered whole; longer text becomes a document
//	cut        default false; true cuts longer text off
//	timeoutMs  default 30000: for the redirects too
//	redirects  default 5
//
// The error is E_INVALID_INITIAL_TOOL_VALUE and names all that break a rule.
func New(arg []byte) (runtime.Handler, error) {
	f := &fetcher{methods: fetchMethods[:2]}
	for i := range fetchNumbers {
		f.numbers[i] = fetchNumbers[i].without
	}
	var wrong []string
	_ = value.Each(arg, func(key, v []byte) bool { // anything that is not a map has no options
		if problem := f.option(string(key), v); problem != "" {
			wrong = append(wrong, "`"+string(key)+"` "+problem)
		}
		return true
	})
	if len(f.allow) == 0 && len(wrong) == 0 {
		wrong = append(wrong, "`allow` is required")
	}
	if len(wrong) > 0 {
		return nil, fault.New(fault.InvalidInitialToolValue, "fetch: "+strings.Join(wrong, "; "))
	}
	return f.handle, nil
}

// option takes an option and returns what is wrong with it.
func (f *fetcher) option(name string, v []byte) (problem string) {
	for i := range fetchNumbers {
		if o := &fetchNumbers[i]; o.name == name {
			n, ok := value.Int(v)
			if f.numbers[i] = n; !ok || n < o.least || n > o.most {
				return "must be a whole number from " + strconv.FormatInt(o.least, 10) + " to " + strconv.FormatInt(o.most, 10)
			}
			return ""
		}
	}
	ok := true
	switch name {
	case "cut":
		if f.cut, ok = value.Bool(v); !ok {
			return "must be a boolean"
		}
		return ""
	case "allow", "methods":
	default:
		known := []string{"allow", "cut", "methods"}
		for i := range fetchNumbers {
			known = append(known, fetchNumbers[i].name)
		}
		return suggestion.Unknown(name, known, "")
	}
	var texts []string
	_ = value.EachItem(v, func(_ int, item []byte) bool {
		text, is := value.String(item)
		ok = ok && is && len(text) > 0
		texts = append(texts, string(text))
		return true
	})
	switch {
	case !ok || len(texts) == 0:
		return "must be a list of non-empty strings, at least one"
	case name == "methods":
		f.methods = texts
		for _, method := range texts {
			if !slices.Contains(fetchMethods, method) {
				return "must be some of " + strings.Join(fetchMethods, ", ")
			}
		}
		return ""
	}
	f.allow = make([]address.Rule, len(texts))
	for i, text := range texts {
		var err error
		if f.allow[i], err = address.ParseRule(text); err != nil {
			return "has " + text + ": " + err.Error()
		}
	}
	return ""
}

// maxListed is how many of the rules an error names.
const maxListed = 20

// allowed tells whether the tool may go to an address, and why not.
func (f *fetcher) allowed(a address.Address) (problem string) {
	var list []string
	for _, r := range f.allow {
		if r.Allows(a) {
			return ""
		}
		if len(list) < maxListed {
			list = append(list, r.String())
		}
	}
	return "is not allowed, but what begins with one of these: " + strings.Join(list, ", ")
}
