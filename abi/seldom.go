package abi

import "github.com/turncore/turncore/abi/value"

// Tuples about sessions are a few of an invocation's frames. Their codecs call what those of other tuples have inlined,
// which makes the full module some 2 KB smaller after brotli.

//go:noinline
func seldomList(b []byte, n int) []byte { return value.AppendListHeader(b, n) }

//go:noinline
func seldomInt(b []byte, n int64) []byte { return value.AppendInt(b, n) }

//go:noinline
func seldomBool(b []byte, v bool) []byte { return value.AppendBool(b, v) }

//go:noinline
func seldomRaw(b []byte, r Raw) []byte { return appendRaw(b, r) }

//go:noinline
func (r *Reader) seldomBool() bool { return r.Bool() }
