// Package core carries the built core module inside a Go program. Its only provider of models is OpenAI's protocol, and
// it reads Markdown artifacts as lines of text; the module that package full carries has all.
//
// A program that names no engine runs the module that it imports:
//
//	import _ "github.com/turncore/turncore/wasm/core"
//
// The module is a build product: releases hold it, the main branch does not.
// The package compiles either way and Module says which case it is, so that a
// caller can fall back to an engine that needs no module and tell its user.
package core

import (
	"embed"

	"github.com/turncore/turncore/internal/carried"
)

func init() { carried.Core = Module }

// The pattern also matches the committed text file: embedding fails when
// nothing matches, and the module itself may be absent.
//
//go:embed turncore.*
var files embed.FS

// Name is the file name of the module that Module returns. `make wasm` writes
// it to this package's folder.
const Name = "turncore.wasm"

// Module returns the bytes of the core module for WASI hosts, and whether this
// build of the package holds one. The slice is the caller's own copy of about
// five megabytes: load it once.
func Module() ([]byte, bool) {
	module, err := files.ReadFile(Name)
	return module, err == nil
}
