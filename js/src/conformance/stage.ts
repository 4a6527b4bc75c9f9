/**
 * What the parts of a play need of the scenario that is played.
 */
import type { Delta, HostOptions, Tokenizable, TurnRunner } from '../index.js';
import type { Entry } from '../entries/records.js';
import type { AnyContext } from '../entries/runners.js';
import type { AnyTool } from '../entries/tools.js';
import type { Line } from './line.js';
import type { Script } from './scenario.js';

/** A scenario that is played: its log, and what it names. */
export interface Stage {
  write(line: Line): void;
  describe(error: unknown): Record<string, unknown>;
  error(name: string): unknown;
  record(spec: unknown): Entry;
  tool(name: string): AnyTool;
  text(name: string): Tokenizable;
  /** Calls a function of the scenario. @param args a tool's arguments */
  call(by: string, ctx: AnyContext | undefined, script: Script, args?: unknown): unknown;
  /** Calls a function that answers at once. */
  callNow(by: string, ctx: AnyContext | undefined, script: Script): unknown;
  /** Writes the line of a storage callback and does its script. @returns what the script returned */
  called(name: string, ctx: AnyContext, line: Line, args: readonly unknown[]): unknown;
  /** Notes writes of one transaction that a storage callback has made. */
  keep(deltas: readonly Delta[]): void;
  /** What was kept under a name. */
  readonly values: Map<string, unknown>;
  /** How often a function was called before. Counts this call. */
  count(by: string): number;
  runner(): TurnRunner;
  /** Counts the listeners of calls of models, which a runner tells of only while there is one. */
  logModelCalls(listeners: 1 | -1): void;
  run(input: unknown): Promise<void>;
  /** Moves the clock. */
  advance(ms: number): void;
  dispatch(from: { readonly inTurn: AnyContext }, arg: unknown): Promise<unknown>;
  make(arg: unknown): unknown;
  /** What turns run in. */
  readonly module: HostOptions['module'];
}
