package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// schemas are the JSON Schemas of agents' manifests and grants, as one line of JSON each.
type schemas struct{ manifest, grant string }

func loadSchemas(dir string) (s schemas, err error) {
	if s.manifest, err = schemaText(filepath.Join(dir, "manifest.schema.json")); err != nil {
		return s, err
	}
	s.grant, err = schemaText(filepath.Join(dir, "grant.schema.json"))
	return s, err
}

func schemaText(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return b.String(), nil
}

func (s schemas) goSource() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, goHeader, "agents/*.schema.json", "agents")
	fmt.Fprintf(&b, "const (\n\tmanifestSchema = `%s`\n\tgrantSchema = `%s`\n)\n", s.manifest, s.grant)
	return b.Bytes()
}

func (s schemas) typeScript() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, tsHeader, "abi/agents/*.schema.json")
	fmt.Fprintf(&b, "/** JSON Schema of manifests. */\nexport const MANIFEST_SCHEMA =\n  %s;\n\n", tsString(s.manifest))
	fmt.Fprintf(&b, "/** JSON Schema of grants. */\nexport const GRANT_SCHEMA =\n  %s;\n", tsString(s.grant))
	return b.Bytes()
}
