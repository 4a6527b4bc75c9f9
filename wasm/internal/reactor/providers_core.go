//go:build (wasip1 || js) && !full

package reactor

import "github.com/turncore/turncore/internal/provider"

// Providers are those of the chat executor.
var Providers = provider.Core
