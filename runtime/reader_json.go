package runtime

import (
	"math"

	"github.com/turncore/turncore/runtime/internal/artifact"
)

func init() { readerGroups = append(readerGroups, &jsonTools) }

const (
	pathProperty = `"path":{"type":"string","description":"A JSONPath query (RFC 9535), such as $.items[?@.price < 10].name"}`
	rangeText    = "counted from 0; negative numbers count from the end"
)

// jsonTools read artifacts that hold JSON.
var jsonTools = readerGroup{class: classJSON, tools: []readerTool{
	{
		name:        "artifact_json_type",
		description: "Get the format of a JSON artifact: json or json5 for one value, jsonl or ndjson for a record on each line.",
		run:         askJSON(func(j *artifact.JSON, _ []byte) ([]byte, error) { return j.Type(), nil }),
	},
	{
		name:        "artifact_json_keys",
		description: "List the keys of a JSON artifact's root object, or of all its records.",
		run:         askJSON(func(j *artifact.JSON, _ []byte) ([]byte, error) { return j.Keys(), nil }),
	},
	{
		name:        "artifact_json_length",
		description: "Get the number of records of a JSON artifact, which is 1 unless it has a record on each line.",
		run:         askJSON(func(j *artifact.JSON, _ []byte) ([]byte, error) { return j.Length(), nil }),
	},
	{
		name:        "artifact_json_get",
		description: "Get all values that a JSONPath query selects from a JSON artifact.",
		properties:  pathProperty,
		required:    []string{"path"},
		run:         askJSON(func(j *artifact.JSON, args []byte) ([]byte, error) { return j.Get(TextArgument(args, "path")) }),
	},
	{
		name:        "artifact_json_filter",
		description: "List the records of a JSON artifact from which a JSONPath query selects anything.",
		properties:  pathProperty,
		required:    []string{"path"},
		run:         askJSON(func(j *artifact.JSON, args []byte) ([]byte, error) { return j.Filter(TextArgument(args, "path")) }),
	},
	{
		name:        "artifact_json_slice",
		description: "List the records of a JSON artifact from start up to but not including end.",
		properties: `"start":{"type":"integer","description":"The first record, ` + rangeText + `."},` +
			`"end":{"type":"integer","description":"The record after the last, ` + rangeText + `."}`,
		run: askJSON(func(j *artifact.JSON, args []byte) ([]byte, error) {
			return j.Slice(place(args, "start", 0), place(args, "end", math.MaxInt32)), nil
		}),
	},
	{
		name:        "artifact_json_pluck",
		description: "Collect the values that a JSONPath query selects from each record of a JSON artifact.",
		properties:  pathProperty,
		required:    []string{"path"},
		run:         askJSON(func(j *artifact.JSON, args []byte) ([]byte, error) { return j.Get(TextArgument(args, "path")) }),
	},
}}

// askJSON makes a reader tool from a query of a JSON artifact.
func askJSON(ask func(j *artifact.JSON, args []byte) ([]byte, error)) func(r *reader, args []byte) ([]byte, error) {
	return func(r *reader, args []byte) ([]byte, error) {
		text, err := r.text()
		if err != nil {
			return nil, err
		}
		j, err := artifact.ParseJSON(text, artifact.Format(r.source.body.Form()))
		if err != nil {
			return nil, err
		}
		answer, err := ask(j, args)
		if err != nil {
			return nil, err
		}
		return rendered(answer)
	}
}

// rendered formats an answer for the model.
func rendered(answer []byte) ([]byte, error) {
	text, cut, err := artifact.Render(nil, answer, maxPage)
	if cut {
		text = append(ClipText(text, maxPage), "\n[The result is cut. Ask for less.]"...)
	}
	return text, err
}
