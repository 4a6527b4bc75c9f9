/**
 * Tools of a page, for turns that run in its worker.
 */
import type { Awaitable } from '../awaitable.js';
import {
  isStandardSchema,
  type StandardSchema,
  validateArguments,
} from '../tools/standard-schema.js';
import { type ObjectSchema, type RawTool, Tool } from '../tools/tool.js';
import type { Cloneable } from './cloneable.js';
import type { PageToolForm } from './protocol.js';

/** The call of a page's tool. */
export interface PageCall {
  /** Aborts when the call's result is no longer wanted. */
  readonly signal: AbortSignal;
  /** The call's key, as `ctx.idempotencyKey` is for a tool of the worker. */
  readonly idempotencyKey: string;
}

/** The fields of a {@link PageTool}. */
export interface RawPageTool<Args, Result extends Cloneable> {
  /** Unique among the tools of the runner in the worker. */
  readonly name: string;
  /** For the model. */
  readonly description: string;
  /**
   * The schema of the arguments: a JSON Schema, with which the module validates, or a Standard Schema (of Zod,
   * Valibot, ArkType …), which validates in the page too and types the handler's arguments.
   */
  readonly inputSchema: ObjectSchema | StandardSchema<unknown, Args>;
  /** The JSON Schema to show the model for a Standard Schema that provides none. */
  readonly jsonSchema?: ObjectSchema | undefined;
  /** Whether its results count as written by the operator. Default false. */
  readonly trusted?: boolean | undefined;
  /** Runs in the page. Its arguments and its result cross between the threads. */
  handler(args: Args, call: PageCall): Awaitable<Result>;
}

/**
 * A tool whose handler runs in the page, where the document is, while the turn runs in a worker.
 *
 * @typeParam Args the handler's arguments, as the schema describes them
 * @typeParam Result the handler's result
 */
export class PageTool<Args = Record<string, unknown>, Result extends Cloneable = Cloneable> {
  /** Unique among the tools of the runner in the worker. */
  readonly name: string;
  readonly #raw: RawPageTool<Args, Result>;
  readonly #form: PageToolForm;

  /** @throws TurncoreError E_INVALID_INITIAL_TOOL_VALUE listing every violation */
  constructor(raw: RawPageTool<Args, Result>) {
    // It checks the fields. Its handler is never called.
    const { name, description, jsonSchema, trusted } = new Tool(
      raw as unknown as RawTool<Args, Result, unknown>,
    );
    this.name = name;
    this.#raw = raw;
    this.#form = { name, description, inputSchema: jsonSchema, trusted };
    Object.freeze(this);
  }

  /** @internal Its description for the worker. */
  form(): PageToolForm {
    return this.#form;
  }

  /** @internal Runs it with arguments that the module has checked. */
  async run(args: unknown, call: PageCall): Promise<unknown> {
    const { inputSchema: schema } = this.#raw;
    const checked = isStandardSchema(schema)
      ? await validateArguments(schema, this.name, args)
      : (args as Args);
    return this.#raw.handler(checked, call);
  }
}

/** A page's tool with any arguments. */
export type AnyPageTool = Pick<PageTool, 'name' | 'form' | 'run'>;
