/**
 * The format of the corpus.
 */

import { type HostOptions } from '../index.js';

/** One file of the corpus: the scenarios of a topic. */
export interface CorpusFile {
  readonly topic: string;
  readonly about: string;
  readonly scenarios: readonly Scenario[];
}

/** One thing that a function does: the name of an operation without an argument, or an object. */
export type Step = string | Readonly<Record<string, unknown>>;
/** Steps, done one after the other. */
export type Script = readonly Step[];

/** What the network answers to a request: a status, headers, and a body in one of four forms. */
export interface Answer {
  /** Default: 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: string;
  readonly json?: unknown;
  /** Server-sent events, one a piece: texts as they are, all else as JSON. */
  readonly events?: readonly unknown[];
  /** Pieces of the body, as they are. */
  readonly chunks?: readonly string[];
  /** After that the connection breaks. */
  readonly breaks?: boolean;
  /** After that nothing comes until the request is aborted, and the run is a moment later. */
  readonly hangs?: boolean;
  /** There is no answer: the connection fails. */
  readonly fails?: boolean;
}

/** What functions of a program do, and what must come of it. */
export interface Scenario {
  /** Unique in the corpus: `topic/name`. */
  readonly id: string;
  readonly title: string;
  /** Of the lines of the log, as `marksOf` gives them. */
  readonly marks?: string;
  /** Numbers of described behaviour and of decisions. */
  readonly covers?: readonly string[];
  /** Features that a host must have to play it. */
  readonly needs?: readonly string[];
  /** Bounds of an instance of the scenario's own. */
  readonly host?: Pick<HostOptions, 'limits' | 'quota'>;
  readonly errors?: Readonly<Record<string, ErrorSpec>>;
  readonly records?: Readonly<Record<string, unknown>>;
  readonly tools?: Readonly<Record<string, ToolSpec>>;
  readonly texts?: Readonly<Record<string, TextSpec>>;
  readonly runner?: RunnerSpec;
  /** To requests, one after the other; one more fails. */
  readonly network?: readonly Answer[];
  readonly main?: Script;
  /** Hosts play it once more for each storage call: see `failing`. */
  readonly eachStorageCallFails?: boolean;
  /** Number of the storage call that fails with the error X, from 1. */
  readonly fails?: number;
  readonly expect: readonly unknown[];
}

/** An error that scripts throw. */
export interface ErrorSpec {
  /** Default: its name. */
  readonly message?: string;
  readonly code?: string;
  /** Name of another one. */
  readonly cause?: string;
  /** Thrown in place of an error. */
  readonly value?: unknown;
}

/** A tool: one of the catalogue, or one of the scenario's own. */
export interface ToolSpec {
  /** Name of a tool of the catalogue. */
  readonly catalogue?: string;
  /** That one's options. */
  readonly options?: unknown;
  /** Default: its key. */
  readonly name?: unknown;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly handler?: Script;
  /** Validation of the program's own. */
  readonly validate?: Script;
  readonly meta?: unknown;
  readonly ephemeral?: unknown;
  readonly trusted?: unknown;
  readonly onCollision?: unknown;
  /** An ArtifactTool. */
  readonly artifact?: boolean;
  /** Class of artifacts for its results. */
  readonly artifactConstructor?: unknown;
}

/** A text for a model: static, or dynamic. */
export interface TextSpec {
  readonly static?: string;
  /** Gives the text, if it is there. */
  readonly dynamic?: Script;
  /** Gives it to a reader without a context; `dynamic` if absent. */
  readonly alone?: Script;
}

/** An entry of a dispatch pipeline: a script, nothing, or a middleware of the module's with its argument. */
export type Entry = Script | null | Readonly<Record<string, unknown>>;

/** What configures a runner or a dispatch. */
export interface RunnerSpec {
  readonly executor?: Script;
  /** Options of the executor inside the module, in the place of `executor`. */
  readonly chat?: Fields;
  readonly turnInput?: readonly (Script | null)[];
  readonly turnOutput?: readonly (Script | null)[];
  readonly dispatchInput?: readonly Entry[];
  readonly dispatchOutput?: readonly Entry[];
  /** Scripts of storage callbacks; those without one do nothing. */
  readonly storage?: Readonly<Record<string, Script>>;
  /** The callbacks are a store's, but for those that have a script. */
  readonly store?: boolean;
  /** Scripts of tokenizers, which count words otherwise. */
  readonly tokenizers?: Readonly<Record<string, Script>>;
  readonly tools?: readonly string[];
  readonly maxIterations?: number;
  /** Around calls of tools' handlers, the outermost first. */
  readonly wrapTool?: readonly Script[];
  /** Around calls of models. */
  readonly wrapModel?: readonly Script[];
  /** The dispatch pipelines go by their older names. */
  readonly olderNames?: boolean;
  /** Required fields that are left out. */
  readonly omit?: readonly string[];
  /** Fields in place of what would be given, for hosts without static types. */
  readonly raw?: Readonly<Record<string, unknown>>;
}

/** A scenario makes no sense. */
export class Malformed extends Error {
  override readonly name = 'Malformed';
}

/** What a tool's own validation refuses arguments with. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** Tells whether a host with the given features can play a scenario. */
export function playable(scenario: Scenario, features: readonly string[]): boolean {
  return (scenario.needs ?? []).every((need) => features.includes(need));
}

/** The members of an argument. */
export type Fields = Readonly<Record<string, unknown>>;

/** Reads an argument's members. @throws Malformed unless it is an object of these members only */
export function fields(arg: unknown, ...known: string[]): Fields {
  if (typeof arg !== 'object' || arg === null || Array.isArray(arg)) {
    throw new Malformed(`${JSON.stringify(arg)} is no object`);
  }
  const unknown = Object.keys(arg).filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Malformed(
      `${JSON.stringify(arg)} has members that mean nothing: ${unknown.join(', ')}`,
    );
  }
  return arg as Fields;
}

/** @throws Malformed unless it is a string */
export function str(value: unknown, fallback?: string): string {
  if (value === undefined && fallback !== undefined) return fallback;
  if (typeof value !== 'string') throw new Malformed(`${JSON.stringify(value)} is no string`);
  return value;
}

/** @throws Malformed unless it is a list */
export function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Malformed(`${JSON.stringify(value)} is no list`);
  return value as unknown[];
}

/** @throws Malformed unless it is a list of strings */
export function strs(value: unknown): string[] {
  return list(value).map((item) => str(item));
}

/** The one member of an object. @throws Malformed */
export function only(value: unknown): readonly [name: string, value: unknown] {
  const entries =
    typeof value === 'object' && value !== null ? Object.entries(value as Fields) : [];
  if (entries.length !== 1) {
    throw new Malformed(`${JSON.stringify(value)} is no object of one member`);
  }
  return entries[0]!;
}
