package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestVectorsAreFresh fails when the table or the reference encoder changed and go generate ./abi was not run.
func TestVectorsAreFresh(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", "..", "testdata", name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./abi", name)
		}
	}
	if len(values) < 200 {
		t.Errorf("%d vectors of values, want at least 200", len(values))
	}
}

// TestReferenceByHand pins the reference encoder to bytes that were worked out on paper.
func TestReferenceByHand(t *testing.T) {
	for in, want := range map[string]string{
		"c4*3 01":   "\xc4\xc4\xc4\x01",
		"da0102 61": "\xda\x01\x02a",
	} {
		if got, err := unhex(in); err != nil || got != want {
			t.Errorf("unhex(%s) = %x, %v", in, got, err)
		}
	}
	for n, want := range map[int64]string{127: "\x7f", 128: "\xcc\x80", -33: "\xd0\xdf", 40000: "\xcd\x9c\x40"} {
		if got := integer(n); got != want {
			t.Errorf("integer(%d) = %x, want %x", n, got, want)
		}
	}
	if got := float(-2); got != "\xcb\xc0\x00\x00\x00\x00\x00\x00\x00" {
		t.Errorf("float(-2) = %x", got)
	}
}
