//go:build (wasip1 || js) && full

package main

import "github.com/turncore/turncore/runtime/provider"

var providers = provider.All
