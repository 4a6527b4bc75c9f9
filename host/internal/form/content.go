package form

import (
	"errors"

	"github.com/tinylib/msgp/msgp"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
)

// Content is the content of a document or the results of a tool call: a text, one or several artifacts, or one or
// several media.
type Content struct {
	Text      string
	List      bool // a list, also of one
	Artifacts []Artifact
	Media     []Media
}

var errContent = errors.New("neither a text, nor artifacts, nor media")

// MarshalMsg implements msgp.Marshaler.
func (c *Content) MarshalMsg(b []byte) (_ []byte, err error) {
	switch {
	case len(c.Artifacts) > 0:
		if c.List {
			b = value.AppendListHeader(b, len(c.Artifacts))
		}
		for i := range c.Artifacts {
			if b, err = c.Artifacts[i].MarshalMsg(b); err != nil {
				return b, err
			}
		}
		return b, nil
	case len(c.Media) > 0:
		if c.List {
			b = value.AppendListHeader(b, len(c.Media))
		}
		for i := range c.Media {
			if b, err = c.Media[i].MarshalMsg(b); err != nil {
				return b, err
			}
		}
		return b, nil
	}
	return msgp.AppendString(b, c.Text), nil
}

// UnmarshalMsg implements msgp.Unmarshaler.
func (c *Content) UnmarshalMsg(b []byte) ([]byte, error) {
	*c = Content{}
	n := 1
	switch kind, size, count := value.Head(b, 0); kind {
	case value.KindString:
		text, rest, err := msgp.ReadStringBytes(b)
		c.Text = text
		return rest, err
	case value.KindMap:
	case value.KindList:
		if count == 0 || count > abi.MaxArray {
			return b, errContent
		}
		c.List, n, b = true, int(count), b[size:]
	default:
		return b, errContent
	}
	artifact := isArtifact(b)
	for range n {
		var err error
		if isArtifact(b) != artifact {
			return b, errContent
		}
		if artifact {
			var a Artifact
			b, err = a.UnmarshalMsg(b)
			c.Artifacts = append(c.Artifacts, a)
		} else {
			var m Media
			b, err = m.UnmarshalMsg(b)
			c.Media = append(c.Media, m)
		}
		if err != nil {
			return b, err
		}
	}
	return b, nil
}

// isArtifact tells an artifact from a medium: it has a class.
func isArtifact(b []byte) bool {
	_, has := value.Get(b, "class")
	return has
}

// Msgsize is the largest size of its encoding.
func (c *Content) Msgsize() int {
	n := msgp.StringPrefixSize + len(c.Text)
	for i := range c.Artifacts {
		n += c.Artifacts[i].Msgsize()
	}
	for i := range c.Media {
		n += c.Media[i].Msgsize()
	}
	return n
}
