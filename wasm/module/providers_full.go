//go:build (wasip1 || js) && full

package main

import (
	"github.com/turncore/turncore/internal/catalogue"
	"github.com/turncore/turncore/internal/fetch"
	"github.com/turncore/turncore/internal/provider"
)

func init() { catalogue.Fetch = fetch.New }

var providers = provider.All
