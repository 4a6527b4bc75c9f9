package store

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
)

// noDocument says why a text is no document.
func noDocument(why string, cause error) error {
	return host.NewError(host.CodeStoredRecordInvalid, "the document: "+why, cause)
}

// readDocument reads a text up to the records and the parts of an [Appender]. JavaScript refuses the same in the same
// words.
func readDocument(text []byte) (*document, error) {
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, noDocument("it is not JSON: "+err.Error(), err)
	}
	d := &document{}
	var ok bool
	if d.members, ok = objectIn(whole); !ok {
		return nil, noDocument("it is not an object", nil)
	}
	if format, _ := textIn(d.members["format"]); format != documentFormat {
		return nil, noDocument(fmt.Sprintf("its format is not %q", documentFormat), nil)
	}
	switch v, _ := wholeIn(d.members["v"]); {
	case v < 1:
		return nil, noDocument("it has no version", nil)
	case v > documentVersion:
		return nil, noDocument(fmt.Sprintf("version %d: a document of a later version", v), nil)
	}
	known := []string{"format", "v", "id", "title", "createdAt", "instructions", "events", "state", "artifacts", "bytes"}
	for _, list := range recordLists {
		known = append(known, list.name)
	}
	if name, unknown := otherThan(d.members, known); unknown {
		return nil, noDocument(name+": it is no member of a document", nil)
	}
	return d, d.read()
}

// read reads the members of a document that is one.
func (d *document) read() error {
	var ok bool
	if d.id, ok = textIn(d.members["id"]); !ok {
		return noDocument("id: it is not a text", nil)
	}
	if raw, there := d.members["title"]; there {
		if d.title, ok = textIn(raw); !ok {
			return noDocument("title: it is not a text", nil)
		}
	}
	if raw, there := d.members["createdAt"]; there {
		created, _ := textIn(raw)
		if _, err := time.Parse(time.RFC3339, created); err != nil {
			return noDocument("createdAt: it is not a time", err)
		}
	}
	if err := d.readInstructions(); err != nil {
		return err
	}
	for i, list := range recordLists {
		if d.records[i], ok = listIn(d.members[list.name]); !ok {
			return noDocument(list.name+": it is not a list", nil)
		}
	}
	if raw, there := d.members["bytes"]; there {
		if d.bytes, ok = objectIn(raw); !ok {
			return noDocument("bytes: it is not an object", nil)
		}
	}
	return nil
}

func (d *document) readInstructions() error {
	raw, there := d.members["instructions"]
	list, ok := listIn(raw)
	if !ok || there && list == nil {
		return noDocument("instructions: it is not a list", nil)
	}
	for i, one := range list {
		switch text, ok := textIn(one); {
		case !ok:
			return noDocument(fmt.Sprintf("instructions[%d]: it is not a text", i), nil)
		case text == "":
			return noDocument(fmt.Sprintf("instructions[%d]: it is empty", i), nil)
		default:
			d.instructions = append(d.instructions, text)
		}
	}
	return nil
}

// element is an element of a list of a document.
type element struct {
	at      string
	members map[string]json.RawMessage
}

// list reads a list of objects of certain members.
func (d *document) list(name string, known ...string) ([]element, error) {
	all, ok := listIn(d.members[name])
	if !ok {
		return nil, noDocument(name+": it is not a list", nil)
	}
	list := make([]element, len(all))
	for i, raw := range all {
		at := name + "[" + strconv.Itoa(i) + "]"
		members, ok := objectIn(raw)
		if !ok {
			return nil, noDocument(at+": it is not an object", nil)
		}
		if other, unknown := otherThan(members, known); unknown {
			return nil, noDocument(at+"."+other+": it is no member", nil)
		}
		list[i] = element{at, members}
	}
	return list, nil
}

func (e *element) wrong(name, why string) error { return noDocument(e.at+"."+name+": "+why, nil) }

func (e *element) text(name string) (string, error) {
	text, ok := textIn(e.members[name])
	if !ok {
		return "", e.wrong(name, "it is not a text")
	}
	return text, nil
}

func (e *element) content(name string) ([]byte, error) {
	return contentIn(e.at+"."+name, e.members[name])
}

func (d *document) content(id string) ([]byte, error) {
	name := "bytes " + string(quoted(id))
	raw, there := d.bytes[id]
	if !there {
		return nil, noDocument(name+" are missing", nil)
	}
	return contentIn(name, raw)
}

// contentIn reads what contentText has written. name is that of the member, for errors.
func contentIn(name string, raw json.RawMessage) ([]byte, error) {
	members, ok := objectIn(raw)
	if !ok {
		return nil, noDocument(name+": it is not an object", nil)
	}
	if other, unknown := otherThan(members, []string{"text", "base64"}); unknown {
		return nil, noDocument(name+": "+other+": it is no member of bytes", nil)
	}
	text, isText := textIn(members["text"])
	encoded, isBase64 := textIn(members["base64"])
	switch {
	case len(members) != 1 || !isText && !isBase64:
		return nil, noDocument(name+": one of text and base64 is required", nil)
	case isText:
		return []byte(text), nil
	}
	content, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, noDocument(name+": it is not base64", err)
	}
	return content, nil
}

// otherThan is the first member by name that is not known.
func otherThan(members map[string]json.RawMessage, known []string) (name string, ok bool) {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(known, name) {
			return name, true
		}
	}
	return "", false
}

// begins tells whether a value, which is valid JSON, begins with a byte.
func begins(raw json.RawMessage, first byte) bool { return len(raw) > 0 && raw[0] == first }

func objectIn(raw json.RawMessage) (members map[string]json.RawMessage, ok bool) {
	return members, begins(raw, '{') && json.Unmarshal(raw, &members) == nil
}

// listIn reads a list; null, and none at all, is an empty one.
func listIn(raw json.RawMessage) (list []json.RawMessage, ok bool) {
	if len(raw) == 0 || begins(raw, 'n') {
		return nil, true
	}
	return list, begins(raw, '[') && json.Unmarshal(raw, &list) == nil
}

func textIn(raw json.RawMessage) (text string, ok bool) {
	return text, begins(raw, '"') && json.Unmarshal(raw, &text) == nil
}

// wholeIn reads a whole number, as ECMAScript would.
func wholeIn(raw json.RawMessage) (n int64, ok bool) {
	var f float64
	if begins(raw, 'n') || json.Unmarshal(raw, &f) != nil || f != math.Trunc(f) || math.Abs(f) > abi.MaxInt {
		return 0, false
	}
	return int64(f), true
}
