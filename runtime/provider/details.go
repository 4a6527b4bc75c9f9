package provider

import (
	"bytes"

	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/value"
)

// Members that hold what an endpoint gives to have it back. Payloads of thoughts, and what is kept with calls, are maps of
// them.
const (
	detailsMember = "reasoning_details"
	extraMember   = "extra_content"
)

// inDetails is the source of reasoning that stands in reasoning_details and nowhere else.
const inDetails = inContent - 1

// details is what an answer says in reasoning_details, and the extra_content of its message.
type details struct {
	list   []byte // values of the entries before the last one
	n      int    // entries
	last   []byte // map; has the last piece of its text
	name   string // of the text
	text   []byte // all pieces
	signed bool   // something is signed or encrypted, so that all goes back
	extra  []byte // key and value, nil for none
}

const (
	detailBytes = 64       // what an entry counts for the size of the answer, beside its members
	maxGrowing  = 64 << 10 // bytes of an entry that others may go on with, as it is copied each time
)

// detailsOf are the details of an answer so far.
func detailsOf(a *chat.Answer) *details {
	k, ok := a.Kept().(*details)
	if !ok {
		k = &details{}
	}
	return k
}

// readDetails reads an answer's reasoning_details, or a piece of them. Their text is shown where no field says it.
func readDetails(a *chat.Answer, list []byte) {
	shown := true
	for field := range chat.MaxReasoningFields {
		shown = shown && a.ThoughtLen(field) <= 0
	}
	// Entries of one list are entries; the first one of a delta may go on with the last one of an earlier delta.
	may := a.InDeltas()
	s := value.NewScanner(list)
	for range s.Items() {
		readDetail(a, &s, shown, may)
		may = false
	}
}

func readDetail(a *chat.Answer, s *value.Scanner, shown, may bool) {
	v, _ := s.AppendValue(nil)
	if value.KindOf(v) != value.KindMap {
		return
	}
	k := detailsOf(a)
	var name string
	var text []byte
	for _, name = range [...]string{"text", "summary", "data"} {
		if text, _ = textIn(v, name); len(text) > 0 {
			break
		}
	}
	if shown && name != "data" {
		a.Thought(inDetails, text)
	}
	signature, _ := textIn(v, "signature")
	k.signed = k.signed || len(signature) > 0 || name == "data" && len(text) > 0
	before := len(k.last)
	if may && goesOn(k.last, v, text) {
		k.last = chat.Merge(k.last, v)
	} else {
		flush(k)
		k.last, k.n, before = v, k.n+1, len(text)-detailBytes
	}
	if len(text) > 0 {
		k.name, k.text = name, append(k.text, text...)
	}
	a.Keep(k, len(k.last)-before+len(text))
}

// goesOn tells whether a piece with a text belongs to an entry. A signature ends the text that it signs.
func goesOn(entry, piece, text []byte) bool {
	for _, name := range [...]string{"type", "id", "index"} {
		old, _ := value.Get(entry, name)
		v, _ := value.Get(piece, name)
		if !bytes.Equal(old, v) && value.KindOf(old)+value.KindOf(v) > value.KindNil {
			return false
		}
	}
	signature, _ := textIn(entry, "signature")
	return len(entry) > 0 && len(entry) < maxGrowing && (len(signature) == 0 || len(text) == 0)
}

// flush puts the last entry to the others, with all of its text.
func flush(k *details) {
	if len(k.text) > 0 {
		k.last = chat.Merge(k.last, value.AppendText(value.AppendString(value.AppendMapHeader(nil, 1), k.name), k.text))
	}
	k.list, k.text = append(k.list, k.last...), k.text[:0]
}

// Payload implements chat.Kept.
func (k *details) Payload() []byte {
	flush(k)
	members, n := k.extra, 0
	if members != nil {
		n = 1
	}
	if k.signed {
		members = append(value.AppendListHeader(value.AppendString(members, detailsMember), k.n), k.list...)
		n++
	}
	if n == 0 {
		return nil
	}
	return append(value.AppendMapHeader(nil, n), members...)
}

// readExtra reads the extra_content of a message. Without a signature it says nothing that has to go back.
func readExtra(a *chat.Answer, s *value.Scanner) {
	if extra := extraIn(s, "signature"); extra != nil {
		k := detailsOf(a)
		k.extra = extra
		a.Keep(k, len(extra))
	}
}

// extraIn is a value of extra_content, behind its key, nil unless it is an object with members and has a word in it.
func extraIn(s *value.Scanner, word string) []byte {
	key := value.AppendString(nil, extraMember)
	pair, _ := s.AppendValue(key)
	v := pair[len(key):]
	if value.KindOf(v) != value.KindMap || value.Len(v) == 0 || !bytes.Contains(v, []byte(word)) {
		return nil
	}
	return pair
}

// appendGiven appends members of a message, or of a call, that go back as they came.
func appendGiven(dst, given []byte) []byte {
	start := len(dst)
	text, _ := value.AppendJSON(dst, given)
	if len(text) < start+3 || text[start] != '{' {
		return dst
	}
	text[start] = ','
	return text[:len(text)-1]
}
