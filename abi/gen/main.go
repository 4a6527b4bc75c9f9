// Command gen generates code and documentation from the ABI's descriptions and Go types: the error table, the
// validation rules, the chat options, the model providers and the built-in tools, in Go (guest and hosts), TypeScript
// and documentation; the guest's enumerations; the frames in TypeScript; the tables of SPEC.md and of pages in docs.
// Run it with go generate in the folder abi; a test fails if a file is stale.
package main

import (
	"bytes"
	"fmt"
	"go/format"
	"maps"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if err := run(".."); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// run writes the generated files of the project at root whose text has changed.
func run(root string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	for path, text := range files {
		path = filepath.Join(root, path)
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the text of every generated file by its path below root.
func generate(root string) (map[string][]byte, error) {
	dir := filepath.Join(root, "abi")
	codes, err := loadErrors(filepath.Join(dir, "errors.json"))
	if err != nil {
		return nil, err
	}
	rules, err := loadRules(filepath.Join(dir, "rules.json"), codes)
	if err != nil {
		return nil, err
	}
	options, err := loadOptions(filepath.Join(dir, "options.json"))
	if err != nil {
		return nil, err
	}
	schemas, err := loadSchemas(filepath.Join(dir, "agents"))
	if err != nil {
		return nil, err
	}
	documents, err := loadDocuments(filepath.Join(dir, "documents.json"))
	if err != nil {
		return nil, err
	}
	src, err := loadSource(dir)
	if err != nil {
		return nil, err
	}
	tools, err := os.ReadFile(filepath.Join(dir, "catalogue", "tools.json"))
	if err != nil {
		return nil, err
	}
	builtins, err := loadBuiltins(filepath.Join(dir, "builtins.json"), tools, codes)
	if err != nil {
		return nil, err
	}
	numbers, err := src.numbers()
	if err != nil {
		return nil, err
	}
	tuples, records, err := src.tuples()
	if err != nil {
		return nil, err
	}
	journal := src.shown()
	files := map[string][]byte{
		"js/src/chat/capabilities.gen.ts":      options.typeScriptCapabilities(),
		"js/src/chat/options.gen.ts":           options.typeScript(),
		"js/src/chat/providers.gen.ts":         options.typeScriptProviders(),
		"js/src/cli/variables.gen.ts":          options.typeScriptVariables(),
		"js/src/abi/catalogue.gen.ts":          catalogue(tools),
		"docs/errors.md":                       codes.markdown(),
		"js/src/abi/codes.gen.ts":              codes.typeScript(),
		"js/src/abi/store-codes.gen.ts":        codes.stores(),
		"js/src/abi/stored-codes.gen.ts":       codes.stored(),
		"js/src/abi/agent-codes.gen.ts":        codes.agents(),
		"js/src/abi/session-codes.gen.ts":      codes.sessionCodes(),
		"js/src/agents/schemas.gen.ts":         schemas.typeScript(),
		"js/src/stored/document-forms.gen.ts":  documents.typeScript(),
		"host/agents/schemas_gen.go":           schemas.goSource(),
		"host/store/document_forms_gen.go":     documents.goSource(),
		"js/src/abi/remedies.gen.ts":           codes.remedies(),
		"js/src/error-classes.gen.ts":          codes.classes(),
		"js/src/abi/rules.gen.ts":              rules.typeScript(),
		"js/src/abi/frames.gen.ts":             src.constants(),
		"js/src/codec/tuples.gen.ts":           tuples,
		"js/src/codec/records.gen.ts":          records,
		"js/src/journal/layouts.gen.ts":        journal.typeScript(),
		"js/test/codec/layouts.gen.ts":         src.layouts(),
		"runtime/fault/codes_gen.go":           codes.guest(),
		"runtime/session/codes_gen.go":         codes.sessions(),
		"abi/codes_gen.go":                     codes.host(),
		"host/codes_gen.go":                    codes.names(),
		"abi/rules_gen.go":                     rules.goSource(),
		"abi/codec_gen.go":                     src.codec(),
		"abi/gen/vectors/tuples_gen.go":        src.goTuples(),
		"internal/suggestion/words_gen.go":     rules.guestWords(),
		"runtime/chat/options_gen.go":          options.guestOptions(),
		"internal/provider/members_gen.go":     options.guestProviders(),
		"host/model/options_gen.go":            options.hostOptions(),
		"host/model/provider_gen.go":           options.hostProviders(),
		"host/cmd/turncore/variables_gen.go":   options.commandVariables(),
		"host/turns/model_options_gen_test.go": options.typedOptions(),
		"host/journal/layouts_gen.go":          journal.goSource(),
		"host/event/kinds_gen.go":              src.hostEvents(),
	}
	maps.Copy(files, numbers)
	for path, text := range files {
		if strings.HasSuffix(path, ".go") {
			if files[path], err = format.Source(text); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	spec, err := os.ReadFile(filepath.Join(dir, "SPEC.md"))
	if err != nil {
		return nil, err
	}
	if files["abi/SPEC.md"], err = src.fillSpec(spec, func(b *bytes.Buffer, names []string) (known bool, err error) {
		if known, err = options.table(b, names); known || err != nil {
			return known, err
		}
		return builtins.table(b, names)
	}); err != nil {
		return nil, err
	}
	for _, path := range []string{"docs/executor.md", "docs/models.md", "docs/command.md"} {
		page, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return nil, err
		}
		files[path], err = fillPage(path, page, func(b *bytes.Buffer, _ string, names []string) error {
			known, err := options.table(b, names)
			if err == nil && !known {
				return fmt.Errorf("no table named %q", names[0])
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}
