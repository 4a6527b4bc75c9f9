// Package inprocess knows whether the program carries the native engine.
package inprocess

import "github.com/turncore/turncore/host"

// New makes a native engine. It is nil in a program that does not import package native, which sets it.
var New func() host.Engine
