/**
 * The format of the corpus.
 */

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

/** What functions of a program do, and what must come of it. */
export interface Scenario {
  /** Unique in the corpus: `topic/name`. */
  readonly id: string;
  readonly title: string;
  /** Numbers of described behaviour and of decisions. */
  readonly covers?: readonly string[];
  /** Features that a host must have to play it. */
  readonly needs?: readonly string[];
  readonly errors?: Readonly<Record<string, ErrorSpec>>;
  readonly records?: Readonly<Record<string, unknown>>;
  readonly tools?: Readonly<Record<string, ToolSpec>>;
  readonly runner?: RunnerSpec;
  readonly main?: Script;
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

/** A tool. */
export interface ToolSpec {
  /** Default: its key. */
  readonly name?: unknown;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly handler?: Script;
  readonly meta?: unknown;
  readonly ephemeral?: unknown;
  readonly trusted?: unknown;
  readonly onCollision?: unknown;
  readonly artifact?: boolean;
}

/** What configures a runner or a dispatch. */
export interface RunnerSpec {
  readonly executor?: Script;
  readonly turnInput?: readonly (Script | null)[];
  readonly turnOutput?: readonly (Script | null)[];
  readonly dispatchInput?: readonly (Script | null)[];
  readonly dispatchOutput?: readonly (Script | null)[];
  /** Scripts of storage callbacks; those without one do nothing. */
  readonly storage?: Readonly<Record<string, Script>>;
  readonly tools?: readonly string[];
  readonly maxIterations?: number;
  /** Required fields that are left out. */
  readonly omit?: readonly string[];
  /** Fields in place of what would be given, for hosts without static types. */
  readonly raw?: Readonly<Record<string, unknown>>;
}

/** A scenario makes no sense. */
export class Malformed extends Error {
  override readonly name = 'Malformed';
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
