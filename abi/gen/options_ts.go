package main

import (
	"bytes"
	"fmt"
	"strings"
)

// typeScript returns the types of options for the npm package.
func (t *optionTable) typeScript() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, tsHeader, "abi/options.json")
	b.WriteString(`import type { OutputSchema } from '../output/output.js';
import type { MediaKind } from '../primitives/media.js';

/** Any JSON object. */
export type JSONObject = Readonly<Record<string, unknown>>;
`)
	for _, o := range t.all() {
		switch o.Type {
		case "bucket[]":
			fmt.Fprintf(&b, "\n/** A part of the system text; `timeline` may end the list. */\nexport type Bucket =\n  | %s;\n",
				strings.Join(tsQuoted(o.Values), "\n  | "))
		case "retry", "capabilities":
			tsInterface(&b, o.Doc, optionTypes[o.Type].ts, "", o.Members)
		}
	}
	var shared, ofAPIs []*option
	for _, o := range t.Common {
		if o.Engine != nil && !*o.Engine || o.Required {
			ofAPIs = append(ofAPIs, o)
		} else {
			shared = append(shared, o)
		}
	}
	tsInterface(&b, "Options of the chat executor, whatever the model.", "ExecutorOptions", "", shared)
	tsInterface(&b, "Options that all providers have.", "CommonChatOptions", "ExecutorOptions", ofAPIs)
	var names, union []string
	for i, p := range t.Providers {
		if p.Engine {
			var own []*option
			for _, o := range t.options(p) {
				if !o.Field {
					own = append(own, o)
				}
			}
			tsInterface(&b, p.Title+".", "EngineChatOptions", "ExecutorOptions", append(own, p.Members...))
			continue
		}
		name := &option{Name: "provider", Type: "string", Values: []string{p.Name}, Required: i > 0}
		names, union = append(names, tsString(p.Name)), append(union, p.Go+"ChatOptions")
		tsInterface(&b, p.Title+".", p.Go+"ChatOptions", "CommonChatOptions", append(append([]*option{name}, t.options(p)...), p.Members...))
	}
	fmt.Fprintf(&b, "\n/** How to reach a model behind an API. */\nexport type ChatOptions =\n  | %s;\n", strings.Join(union, "\n  | "))
	fmt.Fprintf(&b, "\n/** A protocol of model APIs. */\nexport type ProviderName =\n  | %s;\n", strings.Join(names, "\n  | "))
	return b.Bytes()
}

func tsInterface(b *bytes.Buffer, doc, name, base string, list []*option) {
	fmt.Fprintf(b, "\n%sexport interface %s ", tsComment("", doc), name)
	if base != "" {
		fmt.Fprintf(b, "extends %s ", base)
	}
	b.WriteString("{\n")
	for _, o := range list {
		b.WriteString(tsComment("  ", o.tsDocText()))
		kind := o.tsType()
		if o.Required {
			fmt.Fprintf(b, "  readonly %s: %s;\n", o.Name, kind)
			continue
		}
		b.WriteString(fitting(fmt.Sprintf("  readonly %s?: %s | undefined;\n", o.Name, kind),
			fmt.Sprintf("  readonly %s?:\n    | %s\n    | undefined;\n", o.Name, strings.ReplaceAll(kind, " | ", "\n    | "))))
	}
	b.WriteString("}\n")
}

// tsDocText is the TypeScript comment of an option.
func (o *option) tsDocText() string {
	s := o.Doc
	if o.Type == "ms" {
		s += " In milliseconds."
	}
	if o.Type == "schema" {
		s += " A Standard Schema such as Zod's will do."
	}
	if bounds := o.bounds(); bounds != "" && o.tsType() != "1" && o.Most == 0 {
		what := map[string]string{"number": "A number", "integer[]": "Integers"}[o.Type]
		if what == "" {
			what = "An integer"
		}
		s += " " + what + bounds + "."
	}
	if what := o.fallback(); what != "" {
		if len(o.Default) > 0 {
			what = "`" + strings.ReplaceAll(what, `"`, "'") + "`"
		}
		s += " Default: " + what + "."
	}
	return strings.TrimSpace(s)
}

// tsComment formats a doc comment; nothing if the text is empty.
func tsComment(indent, text string) string {
	if text == "" {
		return ""
	}
	return fitting(indent+"/** "+text+" */\n", indent+"/**\n"+wrap(indent+" * ", text, 100)+indent+" */\n")
}

// typeScriptProviders returns the npm package's data about providers, and about options of the full module.
func (t *optionTable) typeScriptProviders() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, tsHeader, "abi/options.json")
	b.WriteString(`/** A provider's API. */
export interface ProviderAPI {
  /** The provider's own address, up to the version. */
  readonly baseURL: string;
  /** Header for the key. */
  readonly header: string;
  /** Text before the key. */
  readonly prefix: string;
  /** Whether the core module has it; the full one has all. */
  readonly core: boolean;
}

/** The APIs of the providers. The first one is the default. */
export const PROVIDERS = {
`)
	for _, p := range t.apis() {
		fmt.Fprintf(&b, "  %s: {\n    baseURL: %s,\n    header: %s,\n    prefix: %s,\n    core: %t,\n  },\n",
			tsKey(p.Name), tsString(p.BaseURL), tsString(p.Header), tsString(p.Prefix), p.Core)
	}
	b.WriteString("} as const satisfies Record<string, ProviderAPI>;\n\n")
	b.WriteString("/** Options that need the full module, unless they have one of these values. */\n")
	b.WriteString("export const CORE_VALUES: Readonly<Record<string, readonly unknown[]>> = {\n")
	for _, o := range t.Own {
		if o.Core != nil {
			fmt.Fprintf(&b, "  %s: [%s],\n", o.Name, strings.Join(tsQuoted(*o.Core), ", "))
		}
	}
	b.WriteString("};\n")
	return b.Bytes()
}

// typeScriptCapabilities returns the rules of an engine's capabilities for the npm package.
func (t *optionTable) typeScriptCapabilities() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, tsHeader, "abi/options.json")
	b.WriteString(`import type { TypeRules } from '../abi/rules.gen.js';

/** The rules of an engine's capabilities. */
export const capabilityRules = {
  title: 'capabilities',
  code: 'E_INVALID_VALUE',
  fields: {
`)
	for _, o := range t.find("capabilities").Members {
		rules := fmt.Sprintf("{ kind: 'string', enum: [%s] }", strings.Join(tsQuoted(o.Values), ", "))
		if strings.HasSuffix(o.Type, "[]") {
			rules = "{ kind: 'list', item: " + rules + " }"
		}
		fmt.Fprintf(&b, "    %s: %s,\n", o.Name, rules)
	}
	b.WriteString("  },\n} as const satisfies TypeRules;\n")
	return b.Bytes()
}
