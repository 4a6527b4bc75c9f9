package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestGeneratedFilesAreFresh fails if a source of the generator changed without go generate ./abi.
func TestGeneratedFilesAreFresh(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		got, err := os.ReadFile(filepath.Join(root, path))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./abi", path)
		}
	}
	again, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for path := range files {
		if !bytes.Equal(files[path], again[path]) {
			t.Errorf("%s is different each time", path)
		}
	}
}

func TestNames(t *testing.T) {
	for in, want := range map[string]string{
		"ID": "id", "IDs": "ids", "CallID": "callId", "URL": "url", "Op": "op", "HasIsError": "hasIsError",
		"TurnEffects": "turnEffects", "FromArtifactTool": "fromArtifactTool",
	} {
		if got := lowerCamel(in); got != want {
			t.Errorf("lowerCamel(%s) = %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"E_HTTP_TRANSPORT": "HTTPTransport", "E_INVALID_LLM_DISPATCH_INPUT": "InvalidLLMDispatchInput",
		"VALIDATION_EXCEPTION": "ValidationException", "E_ARTIFACT_ID_COLLISION": "ArtifactIDCollision",
	} {
		if got := goName(in); got != want {
			t.Errorf("goName(%s) = %s, want %s", in, got, want)
		}
	}
	if got := tsString(`it's`); got != `"it's"` {
		t.Errorf("tsString: %s", got)
	}
}

// TestSpecNeedsEveryTable fails if a tuple or a group of constants can be left out of SPEC.md.
func TestSpecNeedsEveryTable(t *testing.T) {
	src, err := loadSource("..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../SPEC.md")
	if err != nil {
		t.Fatal(err)
	}
	others := func(_ *bytes.Buffer, names []string) (known bool, err error) {
		return slices.Contains([]string{"options", "providers", "members", "middleware", "tools"}, names[0]), nil
	}
	if _, err := src.fillSpec(text, others); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, mark, without string }{
		{"ValidateToolArgs", "WarnArgs ValidateToolArgs", "WarnArgs"},
		{"Scope", "const:EventKind const:Scope", "const:EventKind"},
		{"StartTurn", "generated: StartTurn", "generated:"},
	} {
		page := strings.Replace(string(text), c.mark, c.without, 1)
		if _, err := src.fillSpec([]byte(page), others); err == nil || !strings.HasSuffix(err.Error(), " "+c.name) {
			t.Errorf("without %s: %v", c.name, err)
		}
	}
}

// TestTupleThatNobodySends fails the generator: nothing would read or write such a tuple.
func TestTupleThatNobodySends(t *testing.T) {
	src, err := loadSource("..")
	if err != nil {
		t.Fatal(err)
	}
	src.types = append(src.types, &tuple{Name: "Orphan", Doc: "Orphan of nobody.", Fields: []field{{Name: "ID", Type: "str"}}})
	if _, _, err := src.tuples(); err == nil || !strings.Contains(err.Error(), "tuple Orphan is sent by nobody") {
		t.Errorf("an orphan: %v", err)
	}
}
