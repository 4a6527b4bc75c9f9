package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// variables are the environment variables for a provider's address, model and key. An empty name means none.
type variables struct {
	BaseURL string `json:"baseURL"`
	Version string `json:"version"` // to append to BaseURL, which the provider's own programs expect without it
	Host    string `json:"host"`    // alternative to BaseURL: a host, with or without a port
	Model   string `json:"model"`
	Key     string `json:"key"`
}

// members formats the non-empty names and values in Go or TypeScript.
func (v *variables) members(quote func(string) string) string {
	var list []string
	for _, m := range [][2]string{{"baseURL", v.BaseURL}, {"version", v.Version}, {"host", v.Host}, {"model", v.Model}, {"key", v.Key}} {
		if m[1] != "" {
			list = append(list, m[0]+": "+quote(m[1]))
		}
	}
	return strings.Join(list, ", ")
}

// variablesHelp lists the variables of each provider for the commands' help.
func (t *optionTable) variablesHelp() string {
	type line struct{ providers, names string }
	var lines []line
	for _, p := range t.apis() {
		v := p.Variables
		names := v.BaseURL + v.Host
		if v.Version != "" {
			names += " (without the version)"
		}
		if v.Model != "" {
			names += ", " + v.Model
		}
		if v.Key != "" {
			names += "; key " + v.Key
		}
		l := line{p.Name, names}
		if n := len(lines); n > 0 && lines[n-1].names == l.names {
			lines[n-1].providers += ", " + l.providers
		} else {
			lines = append(lines, l)
		}
	}
	width := 0
	for _, l := range lines {
		width = max(width, len(l.providers))
	}
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, l.providers, l.names)
	}
	return b.String()
}

// commandVariables returns the variables for the command in Go.
func (t *optionTable) commandVariables() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, goHeader, "options.json", "main")
	b.WriteString("import \"github.com/turncore/turncore/host/model\"\n\n")
	b.WriteString("// variablesOf are the variables of the environment by provider.\nvar variablesOf = map[model.Provider]variables{\n")
	for _, p := range t.apis() {
		fmt.Fprintf(&b, "\tmodel.%s: {%s},\n", p.Go, p.Variables.members(strconv.Quote))
	}
	fmt.Fprintf(&b, "}\n\n// variablesHelp names them.\nconst variablesHelp = `%s`\n", t.variablesHelp())
	return b.Bytes()
}

// typeScriptVariables returns the variables for the command in TypeScript.
func (t *optionTable) typeScriptVariables() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, tsHeader, "abi/options.json")
	b.WriteString(`import type { ProviderName } from '../chat/options.gen.js';

/** The variables of the environment that hold a provider's address, model and key. */
export interface Variables {
  readonly baseURL?: string;
  /** What the value of ` + "`baseURL`" + ` lacks, as the provider's own programs have it. */
  readonly version?: string;
  /** Instead of ` + "`baseURL`" + `: a host, with or without a port. */
  readonly host?: string;
  readonly model?: string;
  readonly key?: string;
}

/** Variables by provider. */
export const VARIABLES: Readonly<Record<ProviderName, Variables>> = {
`)
	for _, p := range t.apis() {
		members := p.Variables.members(tsString)
		b.WriteString(fitting(fmt.Sprintf("  %s: { %s },\n", tsKey(p.Name), members),
			fmt.Sprintf("  %s: {\n    %s,\n  },\n", tsKey(p.Name), strings.ReplaceAll(members, ", ", ",\n    "))))
	}
	fmt.Fprintf(&b, "};\n\n/** Names them, for the command's help. */\nexport const VARIABLES_HELP = `%s`;\n", t.variablesHelp())
	return b.Bytes()
}

func (t *optionTable) variableRows(b *bytes.Buffer) {
	code := func(s string) string {
		if s == "" {
			return ""
		}
		return "`" + s + "`"
	}
	b.WriteString("| provider | address | model | key |\n| --- | --- | --- | --- |\n")
	for _, p := range t.apis() {
		v := p.Variables
		address := code(v.BaseURL + v.Host)
		switch {
		case v.Version != "":
			address += ", without `" + v.Version + "`"
		case v.Host != "":
			address += ", a host with or without a port"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", p.Name, address, code(v.Model), code(v.Key))
	}
	b.WriteString("\n")
}
