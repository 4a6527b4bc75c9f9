/**
 * One call of a function of a scenario, and how its script is done.
 */
import { isThenable } from '../awaitable.js';
import { DispatchContext, type DispatchExecutorHelpers, TurnContext } from '../index.js';
import { type AnyContext } from '../entries/runners.js';
import { Malformed, type Script } from './scenario.js';
import type { Stage } from './stage.js';
import { then } from './then.js';

/** Does one step. What it returns, or its promise, is shown by a step that tries. */
export type Operation = (frame: Frame, arg: unknown) => unknown;

/** A call that a wrapper is around. */
export interface Wrapped {
  /** What a script may see of it. */
  readonly members: Readonly<Record<string, unknown>>;
  /** Makes it. @param arg what changes in it */
  next(frame: Frame, arg: unknown): Promise<unknown>;
  /** Gives the answer of a model; absent around a tool. */
  readonly answer?: (arg: unknown) => Promise<void>;
}

/** Thrown to end a script early. */
export const returned = new Error('the script returned');

/** One call of a function, and what its script has at hand. */
export class Frame {
  readonly stage: Stage;
  readonly operations: Readonly<Record<string, Operation>>;
  by: string;
  call = 0;
  ctx: AnyContext | undefined;
  dispatch: DispatchContext | undefined;
  helpers: DispatchExecutorHelpers | undefined;
  next: (() => Promise<void>) | undefined;
  /** The call that a wrapper is around. */
  wrapped: Wrapped | undefined;
  /** A tool's arguments. */
  args: unknown;
  result: unknown;
  iteration = -1;

  constructor(stage: Stage, operations: Readonly<Record<string, Operation>>, by: string) {
    this.stage = stage;
    this.operations = operations;
    this.by = by;
  }

  /** The same call under another name. */
  as(by: string): Frame {
    const frame = new Frame(this.stage, this.operations, by);
    const { call, ctx, dispatch, helpers, next, wrapped, args, iteration } = this;
    return Object.assign(frame, { call, ctx, dispatch, helpers, next, wrapped, args, iteration });
  }

  /** Does a function's script; what it returns is the function's. */
  run(script: Script): unknown {
    const end = (error: unknown): unknown => {
      if (error !== returned) throw error;
      return this.result;
    };
    try {
      const done = this.do(script);
      return isThenable(done) ? done.then(() => this.result, end) : this.result;
    } catch (error) {
      return end(error);
    }
  }

  /** Does the steps from a number on, without waiting as long as none returns a promise. */
  do(script: Script, first = 0): unknown {
    for (let i = first; i < script.length; i++) {
      const done = this.#step(script[i]!);
      if (isThenable(done)) return done.then(() => this.do(script, i + 1));
    }
    return undefined;
  }

  get inTurn(): AnyContext {
    if (this.ctx === undefined) throw new Malformed(`${this.by} has no context`);
    return this.ctx;
  }

  get inDispatch(): DispatchContext {
    if (this.dispatch === undefined) throw new Malformed(`${this.by} has no dispatch`);
    return this.dispatch;
  }

  get helper(): DispatchExecutorHelpers {
    if (this.helpers === undefined) throw new Malformed(`${this.by} has no helpers`);
    return this.helpers;
  }

  #step(step: Script[number]): unknown {
    const members = typeof step === 'string' ? { [step]: undefined } : step;
    const { at, from, call, try: tries, ...rest } = members as Record<string, unknown>;
    if (at !== undefined && at !== this.iteration) return undefined;
    if (from !== undefined && this.iteration < Number(from)) return undefined;
    if (call !== undefined && call !== this.call) return undefined;
    const names = Object.keys(rest);
    const name = names[0] ?? '';
    const operation = Object.hasOwn(this.operations, name) ? this.operations[name] : undefined;
    if (names.length !== 1 || operation === undefined) {
      throw new Malformed(`there is no step ${JSON.stringify(step)}`);
    }
    if (tries !== true) return operation(this, rest[name]);
    const failed = (error: unknown): void => {
      if (error === returned || error instanceof Malformed) throw error as Error;
      this.stage.write({ by: this.by, did: name, threw: this.stage.describe(error) });
    };
    const succeeded = (got: unknown): void => {
      const shown = got === undefined || got === null ? {} : { got };
      this.stage.write({ by: this.by, did: name, ...shown });
    };
    let got: unknown;
    try {
      got = operation(this, rest[name]);
    } catch (error) {
      failed(error);
      return undefined;
    }
    return isThenable(got) ? got.then(succeeded, failed) : then(got, succeeded);
  }
}

/** Puts a context into a frame. */
export function enter(frame: Frame, ctx: AnyContext | undefined): void {
  if (ctx instanceof TurnContext || ctx instanceof DispatchContext) frame.ctx = ctx;
  if (ctx instanceof DispatchContext) {
    frame.dispatch = ctx;
    frame.iteration = ctx.iteration;
  }
}
