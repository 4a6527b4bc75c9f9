package record

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/tokens"
	"github.com/turncore/turncore/host/internal/wire"
)

// ArtifactClass is a kind of artifact. The core's own classes are SpooledText, SpooledJSON and SpooledMarkdown.
type ArtifactClass struct {
	// Name of the class, for the model.
	Name string
	// ReaderTools makes the reader tools of an application's own class: a turns.ReaderTools, or nil. The reader tools of
	// all artifacts exist as well.
	ReaderTools ReaderTools
}

// ReaderTools is implemented by turns.ReaderTools.
type ReaderTools interface{ MakesReaderTools() }

// The core's own classes of artifacts. The core makes reader tools for them.
var (
	SpooledText     = &ArtifactClass{Name: "SpooledArtifact"}
	SpooledJSON     = &ArtifactClass{Name: "SpooledJsonArtifact"}
	SpooledMarkdown = &ArtifactClass{Name: "SpooledMarkdownArtifact"}
)

// BuiltIn tells whether the class is one that the core knows.
func (c *ArtifactClass) BuiltIn() bool {
	return c.Name == SpooledText.Name || c.Name == SpooledJSON.Name || c.Name == SpooledMarkdown.Name
}

// JSONForm is the form of a JSON artifact's records.
type JSONForm string

// Forms of JSON texts.
const (
	AnyJSON JSONForm = ""       // detected from the text
	OneJSON JSONForm = "json"   // one value
	JSONL   JSONForm = "jsonl"  // a value on each line that is not empty
	NDJSON  JSONForm = "ndjson" // the same by its other name
	JSON5   JSONForm = "json5"  // one value, in JSON5
)

// SpooledArtifact is a text that stays in place and is read in parts through a reader: a tool result or a document
// that is too long for a prompt. The model gets its handle and reader tools. Its methods may be called from many
// goroutines; it does not change.
type SpooledArtifact struct {
	reader SpoolReader
	class  *ArtifactClass
	form   JSONForm
	hinted bool
	bytes  int64
	lines  int
}

// NewSpooledArtifact returns an artifact that is read as lines of text. Without a reader it is invalid
// (E_NOT_A_SPOOL_READER).
func NewSpooledArtifact(reader SpoolReader) *SpooledArtifact {
	return NewArtifactOf(SpooledText, reader)
}

// NewSpooledJSONArtifact returns an artifact that holds JSON.
func NewSpooledJSONArtifact(reader SpoolReader, form JSONForm) *SpooledArtifact {
	a := NewArtifactOf(SpooledJSON, reader)
	a.form = form
	return a
}

// NewSpooledMarkdownArtifact returns an artifact that holds Markdown.
func NewSpooledMarkdownArtifact(reader SpoolReader) *SpooledArtifact {
	return NewArtifactOf(SpooledMarkdown, reader)
}

// NewArtifactOf returns an artifact of a class.
func NewArtifactOf(class *ArtifactClass, reader SpoolReader) *SpooledArtifact {
	if class == nil {
		class = SpooledText
	}
	return &SpooledArtifact{reader: reader, class: class}
}

// WithSizeHints returns the artifact with known sizes: bytes of UTF-8, and lines. They replace calls of the reader.
func (a *SpooledArtifact) WithSizeHints(bytes int64, lines int) *SpooledArtifact {
	hinted := *a
	hinted.hinted, hinted.bytes, hinted.lines = true, bytes, lines
	return &hinted
}

// HasSizeHints reports whether the sizes are known without the reader.
func (a *SpooledArtifact) HasSizeHints() bool { return a.hinted }

// Class of the artifact.
func (a *SpooledArtifact) Class() *ArtifactClass { return a.class }

// Reader of the artifact's text.
func (a *SpooledArtifact) Reader() SpoolReader { return a.reader }

// Validate returns E_NOT_A_SPOOL_READER for an artifact without a reader, E_INVALID_VALUE for invalid hints or an
// unknown form.
func (a *SpooledArtifact) Validate() error {
	switch {
	case a == nil || a.reader == nil:
		return host.NewError(host.CodeNotASpoolReader, "", nil)
	case a.class.Name == "":
		return host.NewError(host.CodeInvalidValue, "the artifact's class has no name", nil)
	case a.hinted && (a.bytes < 0 || a.lines < 0):
		return host.NewError(host.CodeInvalidValue, "size hints must not be negative", nil)
	}
	switch a.form {
	case AnyJSON, OneJSON, JSONL, NDJSON, JSON5:
		return nil
	}
	return host.NewError(host.CodeInvalidValue, "the form "+strconv.Quote(string(a.form))+" of a JSON artifact", nil)
}

// LineCount is the number of lines, from the hints if there are any.
func (a *SpooledArtifact) LineCount(ctx context.Context) (int, error) {
	if a.hinted {
		return a.lines, nil
	}
	if a.reader == nil {
		return 0, a.Validate()
	}
	return a.reader.LineCount(ctx)
}

// ByteLength is the number of bytes of UTF-8, from the hints if there are any.
func (a *SpooledArtifact) ByteLength(ctx context.Context) (int64, error) {
	if a.hinted {
		return a.bytes, nil
	}
	if a.reader == nil {
		return 0, a.Validate()
	}
	return ByteLength(ctx, a.reader)
}

// ByteLength asks a reader for its size, and counts if it does not know.
func ByteLength(ctx context.Context, r SpoolReader) (total int64, err error) {
	if n, known := r.ByteLength(); known {
		return n, nil
	}
	lines := int64(0)
	err = ReadLines(ctx, r, 0, func(line []byte) bool {
		total += int64(len(line))
		lines++
		return true
	})
	return total + max(lines-1, 0), err
}

// Cat returns the existing lines from start up to but not including end; math.MaxInt as end stands for all.
func (a *SpooledArtifact) Cat(ctx context.Context, start, end int) ([]string, error) {
	var lines []string
	if a.reader == nil {
		return nil, a.Validate()
	}
	start = max(start, 0)
	if end <= start {
		return nil, nil
	}
	err := ReadLines(ctx, a.reader, start, func(line []byte) bool {
		lines = append(lines, string(line))
		return len(lines) < end-start
	})
	return lines, err
}

// Head returns the first n lines, or all if there are fewer.
func (a *SpooledArtifact) Head(ctx context.Context, n int) ([]string, error) { return a.Cat(ctx, 0, n) }

// Tail returns the last n lines, or all if there are fewer.
func (a *SpooledArtifact) Tail(ctx context.Context, n int) ([]string, error) {
	if a.reader == nil {
		return nil, a.Validate()
	}
	count, err := a.reader.LineCount(ctx)
	if err != nil {
		return nil, err
	}
	return a.Cat(ctx, count-min(max(n, 0), count), count)
}

// Grep returns the lines that match a pattern.
func (a *SpooledArtifact) Grep(ctx context.Context, pattern *regexp.Regexp) ([]string, error) {
	var lines []string
	if a.reader == nil {
		return nil, a.Validate()
	}
	err := ReadLines(ctx, a.reader, 0, func(line []byte) bool {
		if pattern.Match(line) {
			lines = append(lines, string(line))
		}
		return true
	})
	return lines, err
}

// AsString returns the whole text, byte for byte.
func (a *SpooledArtifact) AsString(ctx context.Context) (string, error) {
	if a.reader == nil {
		return "", a.Validate()
	}
	return a.reader.ReadAll(ctx)
}

// EstimateTokens estimates how many tokens the whole text has: for "claude" a token for 3.5 UTF-16 code units, for
// other encodings by the tokenizer that the runner has when ctx is a context of a turn, and else one for 4.
func (a *SpooledArtifact) EstimateTokens(ctx context.Context, encoding string) (int, error) {
	text, err := a.AsString(ctx)
	if err != nil {
		return 0, err
	}
	return tokens.In(tokens.ScopeOf(ctx), encoding, text)
}

// ErrNoSizeHints is the error of Handle for an artifact of unknown size.
var ErrNoSizeHints = errors.New("the artifact has no size hints")

// Handle returns the text that a model gets instead of the artifact's text, with the id of its record. It needs size
// hints (ErrNoSizeHints).
func (a *SpooledArtifact) Handle(id string) (string, error) {
	if !a.hinted {
		return "", ErrNoSizeHints
	}
	quoted, err := wire.JSON(value.AppendString(nil, id))
	if err != nil {
		return "", err
	}
	return "Artifact " + id + " (" + a.class.Name + ", " + strconv.FormatInt(a.bytes, 10) + " bytes, " + strconv.Itoa(a.lines) +
		" lines). Its text is not shown here. Read it with callId " + string(quoted) + " and one of: " +
		strings.Join(readerToolNames(a.class), ", ") + ".", nil
}

// EstimateHandleTokens estimates the number of tokens of the handle.
func (a *SpooledArtifact) EstimateHandleTokens(id, encoding string) (int, error) {
	handle, err := a.Handle(id)
	return tokens.Estimate(encoding, handle), err
}

// readerToolNames are the tools that the core makes for a class.
func readerToolNames(class *ArtifactClass) (names []string) {
	if class.Name == SpooledMarkdown.Name {
		names = append(names, "artifact_md_frontmatter", "artifact_md_headings", "artifact_md_code_blocks", "artifact_md_sections",
			"artifact_md_links", "artifact_md_images", "artifact_md_text", "artifact_md_ast")
	}
	if class.Name == SpooledJSON.Name {
		names = append(names, "artifact_json_type", "artifact_json_keys", "artifact_json_length", "artifact_json_get", "artifact_json_filter", "artifact_json_slice", "artifact_json_pluck")
	}
	return append(names, "artifact_head", "artifact_tail", "artifact_grep", "artifact_cat", "artifact_byte_length", "artifact_line_count", "artifact_estimate_tokens")
}

// appendPart appends the artifact as it stands in a record.
func (a *SpooledArtifact) appendPart(dst []byte) []byte {
	dst = value.AppendInt(value.AppendListHeader(dst, 5), int64(abi.PartArtifact))
	dst = value.AppendString(dst, a.class.Name)
	bytes, lines := int64(-1), int64(-1)
	if a.hinted {
		bytes, lines = a.bytes, int64(a.lines)
	}
	return value.AppendString(value.AppendInt(value.AppendInt(dst, bytes), lines), string(a.form))
}

// MarshalJSON describes the artifact without reading it.
func (a *SpooledArtifact) MarshalJSON() ([]byte, error) {
	described := struct {
		Class string   `json:"artifact"`
		Form  JSONForm `json:"form,omitempty"`
		Bytes *int64   `json:"byteLength,omitempty"`
		Lines *int     `json:"lineCount,omitempty"`
	}{Class: a.class.Name, Form: a.form}
	if a.hinted {
		described.Bytes, described.Lines = &a.bytes, &a.lines
	}
	return json.Marshal(described)
}
