/**
 * Texts for a model, and tokenizers that count them.
 */
import type { Tokenizable } from '../index.js';
import { type DispatchContext } from '../index.js';
import { type Tokenizer } from '../entries/records.js';
import type { Frame, Operation } from './frame.js';
import { fields, Malformed, type Script, str, strs, type TextSpec } from './scenario.js';
import type { Stage } from './stage.js';

/** Tokenizers that write to the log and do what scripts say; those whose script returns nothing count words. */
export function tokenizers(
  stage: Stage,
  scripts: Readonly<Record<string, Script>> = {},
): Record<string, Tokenizer> {
  const counter =
    (name: string, script: Script): Tokenizer =>
    (texts) => {
      stage.write({ tokenizer: name, texts: [...texts] });
      const got = stage.callNow(`tokenizer ${name}`, undefined, script);
      return (got ?? texts.map((text) => text.split(/\s+/u).filter(Boolean).length)) as number[];
    };
  return Object.fromEntries(
    Object.entries(scripts).map(([name, script]) => [name, counter(name, script)]),
  );
}

/** Gives a text what it holds. */
export function fill(stage: Stage, text: Tokenizable, name: string, spec: TextSpec): void {
  const { static: fixed = '', dynamic, alone } = spec;
  if (dynamic === undefined) {
    text.set(fixed);
    return;
  }
  text.set((ctx) => {
    const script = ctx === undefined ? (alone ?? dynamic) : dynamic;
    return stage.callNow(`text ${name}`, ctx, script) as string;
  });
}

/** The context for reading a text: the function's, unless the argument asks for none. */
function reading(f: Frame, alone: unknown): DispatchContext | undefined {
  return alone === true ? undefined : f.inDispatch;
}

/** Operations on texts. */
export const textOperations: Readonly<Record<'estimate' | 'render' | 'setText', Operation>> = {
  estimate: (f, arg) => {
    const { encoding, text, texts, alone } = fields(arg, 'encoding', 'text', 'texts', 'alone');
    const name = encoding as string;
    if (text === undefined) return f.inTurn.estimateTokens(name, strs(texts));
    return f.stage.text(str(text)).estimateTokens(name, reading(f, alone));
  },
  render: (f, arg) => {
    const { text, alone } = fields(arg, 'text', 'alone');
    return f.stage.text(str(text)).render(reading(f, alone));
  },
  setText: (f, arg) => {
    const { text, ...spec } = fields(arg, 'text', 'static', 'dynamic', 'alone');
    const found = f.stage.text(str(text));
    fill(f.stage, found, str(text), spec);
    return found.dynamic;
  },
};

/** The specification of a text. @throws Malformed if there is none */
export function textSpec(
  specs: Readonly<Record<string, TextSpec>> | undefined,
  name: string,
): TextSpec {
  const spec = specs?.[name];
  if (spec === undefined) throw new Malformed(`there is no text ${name}`);
  return spec;
}
