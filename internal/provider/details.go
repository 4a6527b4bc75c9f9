package provider

import (
	"bytes"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/chat"
)

// Members that hold what an endpoint gives to have it back. Payloads of thoughts, and what is kept with calls, are maps
// of them.
const (
	detailsMember = "reasoning_details"
	extraMember   = "extra_content"
)

// inDetails is the source of reasoning that stands in reasoning_details and nowhere else.
const inDetails = inContent - 1

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
	var name string
	var text []byte
	for _, name = range [...]string{"text", "summary", "data"} {
		if text, _ = value.GetString(v, name); len(text) > 0 {
			break
		}
	}
	if shown && name != "data" {
		a.Thought(inDetails, text)
	}
	g := a.Given()
	if signature, _ := value.GetString(v, "signature"); len(signature) > 0 || name == "data" && len(text) > 0 {
		g.List = detailsMember // all of them
	}
	a.Entry(v, may && goesOn(g.Last, v, text), name, text)
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
	signature, _ := value.GetString(entry, "signature")
	return len(signature) == 0 || len(text) == 0
}

// readExtra reads the extra_content of a message. Without a signature it says nothing that has to go back.
func readExtra(a *chat.Answer, s *value.Scanner) {
	if extra := extraIn(nil, s); bytes.Contains(extra, []byte("signature")) {
		a.Given().Members = extra
		a.Keep(len(extra))
	}
}

// extraIn appends a map with an extra_content, unless that is not an object or has no members.
func extraIn(dst []byte, s *value.Scanner) []byte {
	start := len(dst)
	dst = value.AppendString(value.AppendMapHeader(dst, 1), extraMember)
	key := len(dst)
	dst, _ = s.AppendValue(dst)
	if v := dst[key:]; value.KindOf(v) != value.KindMap || value.Len(v) == 0 {
		return dst[:start]
	}
	return dst
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
