/**
 * Artifacts: texts that stay outside the prompt and are read in parts.
 */
import { sizeHintsRules } from '../abi/rules.gen.js';
import type { Encoder } from '../codec/encoder.js';
import { writeArtifactPart } from '../codec/records.gen.js';
import type { DispatchContext } from './reader-context.js';
import { invalidValue, TurncoreError } from '../errors.js';
import type { AnyTool } from '../tools/tool.js';
import { check } from '../validation/rules.js';
import { type HandleRenderer, renderHandle } from './artifact-handle.js';
import { encodeBody } from './body.js';
import { estimateText, tokensOfLength } from './estimate.js';

import { isSpoolReader, requireSize, requireString, type SpoolReader } from './readers.js';

/** Name of the property with the form of an artifact's JSON, for the module. */
export const jsonForm = Symbol('jsonForm');

/** The size of a text, as far as it is known without reading. */
export interface SizeHints {
  /** Bytes of the text as UTF-8. */
  readonly byteLength: number;
  /** Lines of the text: one more than its line feeds, 0 for an empty text. */
  readonly lineCount: number;
}

/** A class of artifacts: {@link SpooledArtifact} or one that extends it. */
export interface ArtifactClass {
  new (reader: SpoolReader, hints?: SizeHints): SpooledArtifact;
  /** Name of the class for models and the module. */
  readonly className: string;
  /** Names of the tools that read artifacts of the class, as its handles list them. */
  readonly readerTools: readonly string[];
  /** The reader tools that the class adds to those of every artifact. */
  forgeTools(ctx: DispatchContext): Iterable<AnyTool>;
}

/**
 * A text that a reader reads by lines, such as a tool's long result or a retrieved document. A model sees its handle
 * (id, class, size) and reads parts of it with the `artifact_*` tools, which are in `ctx.tools` in each iteration of
 * a dispatch with artifacts. The text itself stays with the host: the module asks for lines.
 *
 * A class that extends this one adds its own reader tools with {@link forgeTools}.
 */
export class SpooledArtifact {
  /**
   * Name of the class for models and the module. A class that extends this one sets its own; the default is the name
   * of the JavaScript class, which bundlers may change.
   */
  static readonly className: string = 'SpooledArtifact';

  /** Names of the tools that read artifacts of the class, as its handles list them. */
  static readonly readerTools: readonly string[] = [
    'artifact_head',
    'artifact_tail',
    'artifact_grep',
    'artifact_cat',
    'artifact_byte_length',
    'artifact_line_count',
    'artifact_estimate_tokens',
  ];

  /** @internal The form of its JSON, if known. */
  readonly [jsonForm]: string | undefined;

  readonly #reader: SpoolReader;
  readonly #hints: SizeHints | undefined;

  /**
   * @param reader reads the text
   * @param hints its size; with hints the sizes and the handle need no reading
   * @throws TurncoreError E_NOT_A_SPOOL_READER, E_INVALID_VALUE for hints that are not sizes
   */
  constructor(reader: SpoolReader, hints?: SizeHints) {
    if (!isSpoolReader(reader)) throw TurncoreError.of('E_NOT_A_SPOOL_READER');
    this.#reader = reader;
    if (hints !== undefined) {
      this.#hints = check(sizeHintsRules, hints);
    }
  }

  /**
   * The reader tools that the class adds to those of every artifact, for a dispatch. Called at the start of each
   * iteration whose tool calls or retrieved documents have an artifact of the class. The tools are registered for
   * that iteration, unless a tool of the same name exists. This class adds none: the module makes its tools.
   */
  static forgeTools(_ctx: DispatchContext): Iterable<AnyTool> {
    return [];
  }

  /** The reader of the text. */
  get reader(): SpoolReader {
    return this.#reader;
  }

  /** Name of its class, for models and the module. */
  get kind(): string {
    return classNameOf(this.#class);
  }

  get #class(): ArtifactClass {
    return this.constructor as unknown as ArtifactClass;
  }

  /** Whether its sizes are known without reading. */
  hasSizeHints(): boolean {
    return this.#hints !== undefined;
  }

  /** Bytes of the text as UTF-8: the hint, or the reader's answer. */
  async byteLength(): Promise<number> {
    return this.#hints?.byteLength ?? requireSize('byteLength', await this.#reader.byteLength());
  }

  /** Lines of the text: the hint, or the reader's answer. */
  async lineCount(): Promise<number> {
    return this.#hints?.lineCount ?? requireSize('lineCount', await this.#reader.lineCount());
  }

  /** The first lines. @param n how many, 0 or more */
  async head(n = 10): Promise<string[]> {
    return this.#lines(0, requireCount('n', n));
  }

  /** The last lines. @param n how many, 0 or more */
  async tail(n = 10): Promise<string[]> {
    const count = requireSize('lineCount', await this.#reader.lineCount());
    return this.#lines(Math.max(0, count - requireCount('n', n)), count);
  }

  /**
   * The lines that match. Each line is matched separately from its start, so the `g` flag and the expression's
   * `lastIndex` make no difference. This is the engine's own RegExp; the `artifact_grep` tool for models uses RE2's
   * syntax.
   */
  async grep(pattern: RegExp): Promise<string[]> {
    if (!(pattern instanceof RegExp)) throw invalidValue('pattern', 'must be a RegExp');
    const own = new RegExp(pattern.source, pattern.flags.replace('g', ''));
    const found: string[] = [];
    await this.#each(0, Number.POSITIVE_INFINITY, (line) => {
      own.lastIndex = 0;
      if (own.test(line)) found.push(line);
    });
    return found;
  }

  /**
   * Lines from a start index to an end index, end excluded. A start below 0 is 0, an end beyond the last line is the
   * number of lines.
   */
  async cat(start = 0, end = Number.POSITIVE_INFINITY): Promise<string[]> {
    if (!Number.isInteger(start)) throw invalidValue('start', 'must be a whole number');
    if (!Number.isInteger(end) && end !== Number.POSITIVE_INFINITY) {
      throw invalidValue('end', 'must be a whole number');
    }
    return this.#lines(Math.max(0, start), end);
  }

  /** The whole original text. */
  async asString(): Promise<string> {
    return requireString('readAll', await this.#reader.readAll());
  }

  /**
   * Tokens of the whole text; see {@link Tokenizable.estimateTokens}. Without a context, and for `claude`, the text
   * is read line by line.
   */
  async estimateTokens(encoding: string, ctx?: DispatchContext): Promise<number> {
    if (ctx !== undefined && encoding !== 'claude') {
      return estimateText(encoding, await this.asString(), ctx);
    }
    let units = -1;
    await this.#each(0, Number.POSITIVE_INFINITY, (line) => (units += line.length + 1));
    return tokensOfLength(encoding, Math.max(units, 0));
  }

  /**
   * Tokens of its handle: the text that stands for it in a prompt.
   *
   * @param id its name in the handle
   * @param render writes the handle; default: like the module
   * @throws Error if its sizes are unknown without reading
   */
  estimateHandleTokens(
    id: string,
    encoding: string,
    render: HandleRenderer = renderHandle,
  ): number {
    if (this.#hints === undefined) {
      throw new Error('the handle of an artifact without size hints cannot be estimated');
    }
    return estimateText(
      encoding,
      render({ id, kind: this.kind, ...this.#hints, tools: this.#class.readerTools }),
    );
  }

  /** Its description, without its text. */
  toJSON(): Record<string, unknown> {
    const form = this[jsonForm];
    return { artifact: this.kind, ...(form === undefined ? {} : { form }), ...this.#hints };
  }

  /** @internal */
  [encodeBody](enc: Encoder): void {
    writeArtifactPart(enc, {
      className: this.kind,
      bytes: this.#hints?.byteLength ?? -1,
      lines: this.#hints?.lineCount ?? -1,
      form: this[jsonForm] ?? '',
    });
  }

  async #lines(from: number, to: number): Promise<string[]> {
    const lines: string[] = [];
    await this.#each(from, to, (line) => lines.push(line));
    return lines;
  }

  /** Visits the existing lines of a range in order. */
  async #each(from: number, to: number, visit: (line: string) => void): Promise<void> {
    for (let i = from; i < to; i++) {
      const read = this.#reader.line(i);
      const line = typeof read === 'string' || read === undefined ? read : await read;
      if (line === undefined) return;
      visit(requireString(`line(${i})`, line));
    }
  }
}

/** The name of a class of artifacts: its own `className`, or else the name of the JavaScript class. */
export function classNameOf(of: ArtifactClass): string {
  if (Object.hasOwn(of, 'className') && typeof of.className === 'string') return of.className;
  return (of as unknown as { name: string }).name || of.className;
}

/** Whether a value is a class of artifacts. */
export function isArtifactClass(value: unknown): value is ArtifactClass {
  if (typeof value !== 'function') return false;
  return value === SpooledArtifact || (value.prototype as unknown) instanceof SpooledArtifact;
}

function requireCount(field: string, n: number): number {
  if (Number.isInteger(n) && n >= 0) return n;
  throw invalidValue(field, 'must be a whole number that is not negative');
}
