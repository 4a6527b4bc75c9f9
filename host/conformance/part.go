package conformance

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/turncore/turncore/host/record"
)

// part makes the content of a record: a text, {text: name}, {artifact: text, kind?, hints?, reader?}, {media: …}, or
// a list of either of the last two.
func (g *game) part(v any) any {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		parts := make([]any, len(v))
		for i, item := range v {
			parts[i] = g.part(item)
		}
		if artifacts, ok := allOf[*record.SpooledArtifact](parts); ok {
			return artifacts
		}
		if media, ok := allOf[*record.Media](parts); ok {
			return media
		}
		return parts
	}
	f := fieldsOf(v)
	defer f.end()
	if m, there := f.take("media"); there {
		return g.newMedia(m)
	}
	if name, there := f.take("text"); there {
		return g.text(str(name))
	}
	return g.artifact(f)
}

// allOf returns the items of a list as P, if all of them are.
func allOf[P any](list []any) ([]P, bool) {
	all := make([]P, len(list))
	for i, item := range list {
		p, ok := item.(P)
		if !ok {
			return nil, false
		}
		all[i] = p
	}
	return all, true
}

func (g *game) artifact(f *fields) *record.SpooledArtifact {
	text, there := f.take("artifact")
	if there && text == nil {
		return record.NewSpooledArtifact(nil)
	}
	var reader record.SpoolReader = record.NewBlob([]byte(str(text)))
	if scripts, there := f.take("reader"); there {
		reader = spoolReader{reader, scriptsOf(g, scripts)}
	}
	var a *record.SpooledArtifact
	switch f.str("kind", "text") {
	case "json":
		a = record.NewSpooledJSONArtifact(reader, record.AnyJSON)
	case "markdown":
		a = record.NewSpooledMarkdownArtifact(reader)
	default:
		a = record.NewSpooledArtifact(reader)
	}
	if v, there := f.take("hints"); there {
		sizes := list(v)
		a = a.WithSizeHints(int64(sizes[0].(float64)), int(sizes[1].(float64)))
	}
	return a
}

// newMedia makes a medium from its fields, or by a factory.
func (g *game) newMedia(v any) *record.Media {
	f := fieldsOf(v)
	defer f.end()
	var reader record.MediaReader = record.NewBlob([]byte(f.str("bytes", "bytes")))
	if scripts, there := f.take("reader"); there {
		reader = mediaReader{reader, scriptsOf(g, scripts)}
	}
	kind, mime, name := record.MediaKind(f.str("kind", "image")), f.str("mimeType", "image/png"), f.str("filename", "a.png")
	factories := map[string]func(record.MediaKind, string, string, record.MediaReader) *record.Media{
		"userAttachment": record.UserAttachment, "toolGenerated": record.ToolGenerated,
		"retrievedPublic": record.RetrievedPublic, "retrievedPrivate": record.RetrievedPrivate,
	}
	if factory, there := f.take("factory"); there {
		return factories[str(factory)](kind, mime, name, reader)
	}
	return &record.Media{
		ID: f.str("id", "media"), Kind: kind, MimeType: mime, Filename: name, Reader: reader,
		TrustTier: record.TrustTier(f.str("trustTier", "first-party")), ModalityHazard: record.ModalityHazard(f.str("modalityHazard", "inert")),
	}
}

// shown is the form of a content or of results in a log: a text, "[CLASS BYTES LINES]" for an artifact with size
// hints, "[KIND FILENAME]" for a medium.
func shown(content any) string {
	switch c := content.(type) {
	case nil:
		return ""
	case string:
		return c
	case *record.Tokenizable:
		return c.String()
	case *record.SpooledArtifact:
		if !c.HasSizeHints() {
			return "[" + c.Class().Name + "]"
		}
		bytes, err := c.ByteLength(context.Background())
		lines, lineErr := c.LineCount(context.Background())
		if err != nil || lineErr != nil {
			panic(malformed("%v %v", err, lineErr))
		}
		return fmt.Sprintf("[%s %d %d]", c.Class().Name, bytes, lines)
	case *record.Media:
		return "[" + string(c.Kind) + " " + c.Filename + "]"
	case []*record.SpooledArtifact:
		return shownList(c)
	case []*record.Media:
		return shownList(c)
	}
	panic(malformed("a %T in a record", content))
}

func shownList[P any](list []P) string {
	var all []string
	for _, p := range list {
		all = append(all, shown(p))
	}
	return strings.Join(all, " ")
}

// read calls a method of an artifact, with the function's context if it has one.
func (f *frame) read(arg any) (any, error) {
	given := fieldsOf(arg)
	defer given.end()
	a := f.game.part(given.any("of")).(*record.SpooledArtifact)
	ctx := context.Background()
	if f.ctx != nil {
		ctx = f.ctx
	}
	var args []any
	if v, there := given.take("args"); there {
		args = list(v)
	}
	number := func(i, fallback int) int {
		if i < len(args) {
			return int(args[i].(float64))
		}
		return fallback
	}
	switch method := given.str("call", ""); method {
	case "head":
		return texts(a.Head(ctx, number(0, 10)))
	case "tail":
		return texts(a.Tail(ctx, number(0, 10)))
	case "cat":
		return texts(a.Cat(ctx, number(0, 0), number(1, math.MaxInt)))
	case "grep":
		return texts(a.Grep(ctx, regexp.MustCompile(str(args[0]))))
	case "asString":
		return a.AsString(ctx)
	case "byteLength":
		return a.ByteLength(ctx)
	case "lineCount":
		return a.LineCount(ctx)
	case "estimateTokens":
		return a.EstimateTokens(ctx, str(args[0]))
	default:
		panic(malformed("an artifact has no method %q", method))
	}
}

func texts(lines []string, err error) (any, error) {
	return anyList(lines), err
}
