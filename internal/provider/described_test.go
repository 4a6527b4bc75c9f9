package provider_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/fault"
)

// describedOption is an option as abi/options.json has it.
type describedOption struct {
	Name, Type, In string
	Min, Max       *int64
	Most           int
	Values         []string
	Default        json.RawMessage
	Engine         *bool
	Core           *[]string
	Members        []describedOption
}

type describedProvider struct {
	Name, BaseURL, Thoughts string
	Core, Engine            bool
	Options                 []string
	Members                 []describedOption
}

// described is abi/options.json.
type described struct {
	Common, Own []describedOption
	Providers   []describedProvider
}

func readDescribed(t *testing.T) (d described) {
	text, err := os.ReadFile("../../abi/options.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// of are the options of a provider, with the values that it has for them.
func (d *described) of(p *describedProvider) (list []describedOption) {
	for _, o := range d.Common {
		if !p.Engine || o.Engine == nil || *o.Engine {
			list = append(list, o)
		}
	}
	for _, o := range d.Own {
		if !slices.Contains(p.Options, o.Name) {
			continue
		}
		if o.Name == "thoughts" && p.Thoughts != "" {
			o.Values = append(slices.Clone(o.Values), p.Thoughts)
		}
		list = append(list, o)
	}
	return append(list, p.Members...)
}

// probe is a value of an option, JSON text, and what the refusal says of it; nothing for a value that is right.
type probe struct{ value, refusal string }

func quoted(list []string) string {
	text, _ := json.Marshal(list)
	return string(text)
}

// probes are values around what the option may be.
func (o *describedOption) probes() (list []probe) {
	add := func(value, refusal string) { list = append(list, probe{value, refusal}) }
	samples := map[string]string{
		"string": `"x"`, "boolean": `true`, "number": `0.5`, "integer": `7`, "object": `{"a":1}`, "string[]": `["x"]`,
		"object[]": `[{"a":1}]`,
		"string{}": `{"x-a":"b"}`, "object{}": `{"tool":{"a":1}}`, "schema": `{"type":"object"}`, "ms": `0`,
	}
	switch {
	case o.Type == "bucket[]":
		add(quoted(o.Values), "")
		add(quoted(o.Values[:len(o.Values)-1]), "")
		add(`["other"]`, "must only contain "+strings.Join(o.Values[:len(o.Values)-1], ", "))
	case o.Type == "media[]":
		add(quoted(o.Values), "")
		add(`["other"]`, "must")
	case len(o.Values) > 0:
		for _, v := range o.Values {
			add(quoted([]string{v})[1:len(v)+3], "")
		}
		add(`"other"`, "must be one of "+strings.Join(o.Values, ", "))
	case o.Type == "integer[]":
		add(fmt.Sprintf("[%d,%d]", *o.Min, *o.Max), "")
		add(fmt.Sprintf("[%d]", *o.Min-1), "must be")
		add(fmt.Sprintf("[%d]", *o.Max+1), "must be")
	case o.Min != nil:
		add(fmt.Sprint(*o.Min), "")
		add(fmt.Sprint(*o.Min-1), "must be")
		if o.Max != nil {
			add(fmt.Sprint(*o.Max), "")
			if *o.Max < 1<<53-1 {
				add(fmt.Sprint(*o.Max+1), "must be")
			}
		}
	default:
		for one := range strings.SplitSeq(o.Type, "|") {
			if samples[one] != "" && o.Name != "baseURL" {
				add(samples[one], "")
			}
		}
	}
	if o.Most > 0 {
		add(quoted(slices.Repeat([]string{"x"}, o.Most)), "")
		add(quoted(slices.Repeat([]string{"x"}, o.Most+1)), fmt.Sprintf("at most %d", o.Most))
	}
	if o.Type == "ms" {
		add(`-1`, "must be a number of milliseconds")
	}
	if len(o.Default) > 0 {
		add(string(o.Default), "")
	}
	if !strings.Contains(o.Type, "string") && o.Type != "schema" {
		add(`"other"`, "must")
	}
	if !strings.Contains(o.Type, "boolean") {
		add(`true`, "must")
	}
	return list
}

// refusal is what an executor with these options is refused with, "" when it is not.
func refusal(t *testing.T, options string, providers []chat.Provider) string {
	v, err := value.FromJSON(nil, []byte(options))
	if err != nil {
		t.Fatalf("%v in %s", err, options)
	}
	if _, err = chat.New(v, providers...); err == nil {
		return ""
	}
	if !errors.Is(err, fault.ChatInvalidOptions) {
		t.Errorf("%s: %v", options, err)
	}
	return err.Error()
}

// The executor takes every option that abi/options.json describes, with the values that it has there and no others. A
// provider refuses options that another one has of its own.
func TestOptionsAreAsDescribed(t *testing.T) {
	d, n := readDescribed(t), 0
	for i := range d.Providers {
		p := &d.Providers[i]
		try := func(option, path string, pr probe) {
			n++
			options := fmt.Sprintf(`{"provider":%q,"model":"m",%s}`, p.Name, option)
			switch option := strings.Trim(path, "."); {
			case strings.HasPrefix(option, "toolDelivery"): // needs a format
				options = options[:len(options)-1] + `,"toolFormat":"auto"}`
			case strings.HasPrefix(option, "reasoningOpened"):
				options = options[:len(options)-1] + `,"reasoningFormat":"auto"}`
			case option == "toolChoice":
				options = options[:len(options)-1] + `,"capabilities":{"grammar":"gbnf"}}`
			}
			got := refusal(t, options, provider.All)
			if pr.refusal == "" && got != "" || pr.refusal != "" && !strings.Contains(got, "`"+path) || !strings.Contains(got, pr.refusal) {
				t.Errorf("%s: %q, want %q", options, got, pr.refusal)
			}
		}
		for _, o := range d.of(p) {
			if o.Name == "model" {
				continue
			}
			for _, m := range o.Members {
				for _, pr := range m.probes() {
					try(fmt.Sprintf(`%q:{%q:%s}`, o.Name, m.Name, pr.value), o.Name+"."+m.Name, pr)
				}
			}
			if len(o.Members) > 0 {
				continue
			}
			for _, pr := range o.probes() {
				try(fmt.Sprintf(`%q:%s`, o.Name, pr.value), o.Name, pr)
			}
		}
		for _, o := range d.Own {
			if slices.Contains(p.Options, o.Name) {
				continue
			}
			for _, pr := range o.probes() {
				if pr.refusal == "" {
					try(fmt.Sprintf(`%q:%s`, o.Name, pr.value), o.Name, probe{pr.value, "` is not "})
				}
			}
		}
		try(`"other":1`, "other", probe{"", "is not a known option"})
	}
	if n < 800 {
		t.Errorf("%d values were tried", n)
	}
}

// Every provider is described, and has the members that are described; the core module has what the description says.
func TestProvidersAreAsDescribed(t *testing.T) {
	d := readDescribed(t)
	if len(d.Providers) != len(provider.All) {
		t.Fatalf("%d providers are described, there are %d", len(d.Providers), len(provider.All))
	}
	for i := range d.Providers {
		p := &d.Providers[i]
		of := func(list []chat.Provider) (protocol chat.Protocol) {
			for _, candidate := range list {
				if protocol = candidate.Protocol(); protocol.Name == p.Name {
					return protocol
				}
			}
			t.Fatalf("no provider %s", p.Name)
			return protocol
		}
		protocol, core := of(provider.All), of(provider.Core)
		var want, got []string
		for _, m := range p.Members {
			want = append(want, m.Name)
		}
		for _, m := range protocol.Members {
			got = append(got, m.Name)
		}
		if !slices.Equal(got, want) || protocol.BaseURL != p.BaseURL || (core.Elsewhere == "") != p.Core || (protocol.Local != nil) != p.Engine {
			t.Errorf("%s is at %q with %q; core: %q", p.Name, protocol.BaseURL, got, core.Elsewhere)
		}
		if !p.Core {
			continue
		}
		for _, o := range d.of(p) {
			if o.Core == nil {
				continue
			}
			for _, pr := range o.probes() {
				var word string
				if pr.refusal != "" || o.Type == "string" && json.Unmarshal([]byte(pr.value), &word) != nil {
					continue
				}
				options := fmt.Sprintf(`{"model":"m",%q:%s}`, o.Name, pr.value)
				told := refusal(t, options, provider.Core)
				if here := slices.Contains(*o.Core, word); here != (told == "") || !here && !strings.Contains(told, "is not in this module, but in turncore-full.wasm") {
					t.Errorf("the core module: %s: %q", options, told)
				}
			}
		}
	}
}
