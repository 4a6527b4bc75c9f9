package turns

import (
	"crypto/sha256"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/panics"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

// spoolBytes writes a text and returns the reader that storage gives for it.
func (c *Callbacks) spoolBytes(ctx Context, id string, bytes io.Reader) (reader record.SpoolReader, err error) {
	defer panics.Recovered(&err)
	reader, err = c.StoreRetrievableBytes(ctx, id, bytes)
	if err == nil && reader == nil {
		err = newError(abi.CodeNotASpoolReader, "what storeRetrievableBytes gave for "+id, nil)
	}
	return reader, err
}

// spool returns the document that takes the place of one whose text is not inline: the same, with an artifact that
// reads the text. Others are returned as they are.
func (c *Callbacks) spool(ctx Context, r *record.Retrievable) (*record.Retrievable, error) {
	text, isText := record.StaticText(r.Content)
	if !isText || r.Inline {
		return r, nil
	}
	reader, err := c.spoolBytes(ctx, r.ID, newDocumentText(text))
	if err != nil {
		return nil, err
	}
	spooled := *r
	spooled.Content = artifactOver(r.ArtifactClass, text, reader)
	return &spooled, spooled.Validate()
}

// documentText reads the text of a document.
type documentText struct {
	*strings.Reader
	text string
}

func newDocumentText(text string) *documentText { return &documentText{strings.NewReader(text), text} }

// contentID is the id that stores have for the content.
func (t *documentText) contentID() string {
	sum := sha256.Sum256([]byte(t.text))
	return store.ContentID(sum[:])
}

// artifactOver is an artifact over a text, and what reads it.
func artifactOver(class *record.ArtifactClass, text string, reader record.SpoolReader) *record.SpooledArtifact {
	lines := 0
	if text != "" {
		lines = strings.Count(text, "\n") + 1
	}
	return record.NewArtifactOf(class, reader).WithSizeHints(int64(len(text)), lines)
}

// artifacts visits the artifacts in the dispatch's context with their ids.
func (c *DispatchContext) artifacts(yield func(id string, a *record.SpooledArtifact)) {
	for _, call := range c.TurnToolCalls().Slice() {
		if call.FromArtifactTool {
			continue
		}
		switch results := call.Results.(type) {
		case *record.SpooledArtifact:
			yield(call.ID, results)
		case []*record.SpooledArtifact:
			for i, a := range results {
				yield(call.ID+"#"+strconv.Itoa(i), a)
			}
		}
	}
	for _, r := range c.TurnRetrievables().Slice() {
		if a, ok := r.Content.(*record.SpooledArtifact); ok && !r.Inline {
			yield(r.ID, a)
		}
	}
}

// FindArtifact returns the artifact with an id, like the reader tools: a tool call's, one of a list of results (id#n,
// from 0), or that of a document that is not inline; nil if there is none.
func (c *DispatchContext) FindArtifact(id string) (found *record.SpooledArtifact) {
	c.artifacts(func(name string, a *record.SpooledArtifact) {
		if found == nil && name == id {
			found = a
		}
	})
	return found
}

// ReaderTools makes the reader tools of an application's own class, for [record.ArtifactClass], at the start of an
// iteration whose context has artifacts of the class. ids are their ids: FindArtifact returns the artifacts. The
// tools should be Ephemeral and Artifact tools: both flags are set if they are not.
type ReaderTools func(ctx *DispatchContext, ids []string) []*Tool

// MakesReaderTools implements record.ReaderTools.
func (ReaderTools) MakesReaderTools() {}

// forge registers the reader tools of classes of the application's own. A tool of the application's that has the name
// of one stays.
func (c *DispatchContext) forge(classes []string) error {
	type group struct {
		class *record.ArtifactClass
		tools ReaderTools
		ids   []string
	}
	var groups []*group
	c.artifacts(func(id string, a *record.SpooledArtifact) {
		class := a.Class()
		makeTools, own := class.ReaderTools.(ReaderTools)
		if !own || makeTools == nil || class.BuiltIn() || !slices.Contains(classes, class.Name) {
			return
		}
		i := slices.IndexFunc(groups, func(g *group) bool { return g.class == class })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &group{class: class, tools: makeTools})
		}
		groups[i].ids = append(groups[i].ids, id)
	})
	for _, g := range groups {
		for _, tool := range g.tools(c, g.ids) {
			if err := tool.Validate(); err != nil {
				return err
			}
			if c.Tools().Has(tool.Name) {
				continue
			}
			forged := *tool
			forged.Ephemeral, forged.Artifact = true, true
			if err := c.Tools().Register(&forged, false); err != nil {
				return err
			}
		}
	}
	return nil
}
