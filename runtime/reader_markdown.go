//go:build full || !wasm

package runtime

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/internal/markdown"
	"github.com/turncore/turncore/runtime/internal/yaml"
)

func init() { readerGroups = append(readerGroups, &markdownTools) }

const depthProperty = `"depth":{"type":"integer","minimum":1,"maximum":6,"description":"Only headings of this depth, the number of their #."}`

// markdownTools read artifacts that hold Markdown. The first four scan it line by line, whatever its size; the others
// need the whole text.
var markdownTools = readerGroup{class: classMarkdown, tools: []readerTool{
	{
		name:        "artifact_md_frontmatter",
		description: "Read the YAML front matter of a Markdown artifact.",
		run: indexed(func(x *markdown.Index, _ []byte) []byte {
			text, ok := x.FrontMatter()
			if !ok {
				return nil
			}
			if v, err := yaml.Parse(text); err == nil {
				return v
			}
			return value.AppendText(nil, text) // the model can read YAML that this reader cannot
		}),
	},
	{
		name:        "artifact_md_headings",
		description: "List the headings of a Markdown artifact with their depths and the lines from startLine to endLine, that one included.",
		properties:  depthProperty,
		run:         indexed(func(x *markdown.Index, args []byte) []byte { return x.Headings(int(argument(args, "depth", 0))) }),
	},
	{
		name:        "artifact_md_code_blocks",
		description: "List the fenced code blocks of a Markdown artifact with their languages and the lines from startLine to endLine, that one included.",
		properties:  `"lang":{"type":"string","description":"Only blocks in this language; empty for those that name none."}`,
		run: indexed(func(x *markdown.Index, args []byte) []byte {
			_, some := value.Get(args, "lang")
			return x.CodeBlocks(TextArgument(args, "lang"), some)
		}),
	},
	{
		name:        "artifact_md_sections",
		description: "List the sections of a Markdown artifact, heading and lines of the body, endLine included. Read them with artifact_cat, whose end is endLine + 1.",
		properties:  depthProperty,
		run:         indexed(func(x *markdown.Index, args []byte) []byte { return x.Sections(int(argument(args, "depth", 0))) }),
	},
	{
		name:        "artifact_md_links",
		description: "List the links of a Markdown artifact.",
		run:         parsed((*markdown.Document).Links),
	},
	{
		name:        "artifact_md_images",
		description: "List the images of a Markdown artifact.",
		run:         parsed((*markdown.Document).Images),
	},
	{
		name:        "artifact_md_text",
		description: "Read the text of a Markdown artifact without its markup.",
		run:         parsed((*markdown.Document).Text),
	},
	{
		name:        "artifact_md_ast",
		description: "Get the parse tree of a Markdown artifact, or of some of its lines.",
		properties: `"startLine":{"type":"integer","minimum":0,"description":"The first line, counted from 0."},` +
			`"endLine":{"type":"integer","minimum":0,"description":"The last line, included."}`,
		run: parsed((*markdown.Document).Tree),
	},
}}

// indexed makes a reader tool from a query of the index.
func indexed(ask func(x *markdown.Index, args []byte) []byte) func(r *reader, args []byte) ([]byte, error) {
	return func(r *reader, args []byte) ([]byte, error) {
		var x markdown.Index
		var failure error
		_, err := r.lines(0, maxLine, func(_ uint64, line []byte) bool {
			failure = x.Add(line)
			return failure == nil
		})
		if err == nil {
			err = failure
		}
		if err != nil {
			return nil, err
		}
		return rendered(ask(&x, args))
	}
}

// parsed makes a reader tool from a query of the parse tree.
func parsed(ask func(d *markdown.Document) ([]byte, error)) func(r *reader, args []byte) ([]byte, error) {
	return func(r *reader, args []byte) ([]byte, error) {
		text, err := r.text()
		if err != nil {
			return nil, err
		}
		d, err := markdown.Parse(text, place(args, "startLine", 0), place(args, "endLine", -2)+1)
		if err != nil {
			return nil, err
		}
		answer, err := ask(d)
		if err != nil {
			return nil, err
		}
		return rendered(answer)
	}
}
