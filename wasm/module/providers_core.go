//go:build (wasip1 || js) && !full

package main

import "github.com/turncore/turncore/internal/provider"

var providers = provider.Core
