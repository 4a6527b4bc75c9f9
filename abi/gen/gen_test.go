package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestGeneratedFilesAreFresh fails when a source of the generator changed and go generate ./abi was not run.
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
