//go:build (wasip1 || js) && full

package main

import (
	"github.com/turncore/turncore/runtime/catalogue"
	"github.com/turncore/turncore/runtime/fetch"
	"github.com/turncore/turncore/runtime/provider"
)

func init() { catalogue.Fetch = fetch.New }

var providers = provider.All
