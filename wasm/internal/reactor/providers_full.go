//go:build (wasip1 || js) && full

package reactor

import (
	"github.com/turncore/turncore/internal/catalogue"
	"github.com/turncore/turncore/internal/fetch"
	"github.com/turncore/turncore/internal/provider"
)

func init() { catalogue.Fetch = fetch.New }

// Providers are those of the chat executor.
var Providers = provider.All
