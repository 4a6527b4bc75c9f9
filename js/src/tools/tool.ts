/**
 * Tools: what a model may call.
 */
import { attempt } from '../attempt.js';
import type { Write } from '../codec/encoder.js';
import type { DispatchContext } from '../context/dispatch-context.js';
import { invalidValue, TurncoreError } from '../errors.js';
import { Stash, stashViolations } from '../stash/stash.js';
import { type AnyArtifactClass, toArtifactClass } from '../validation/artifact-class.js';
import { type Converter, invalid, toSchema } from '../validation/field-kinds.js';
import { check, phrase } from '../validation/rules.js';
import {
  inputJsonSchema,
  isStandardSchema,
  type StandardSchema,
  validateArguments,
} from './standard-schema.js';

/** What happens when registries are merged and a tool's name is taken. */
export type CollisionPolicy = 'throw' | 'replace' | 'keep';

/** A JSON Schema 2020-12 of object type, as data. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly [keyword: string]: unknown;
}

/**
 * Runs a tool. It may return anything; what it returns or throws reaches whoever asked for the call.
 *
 * @param args the arguments, validated, defaults filled in
 * @param ctx the dispatch that the call belongs to
 * @param meta the tool's own data
 */
export type ToolHandler<Args, Result> = (
  args: Args,
  ctx: DispatchContext,
  meta: Stash,
) => Result | PromiseLike<Result>;

/** What a call of a tool may say of itself. */
export interface CallOptions {
  /** What the provider calls the call: it goes into the events of the execution. */
  readonly providerCallId?: string | undefined;
}

/** Calls a tool within a dispatch. */
export type ToolCaller<Input, Result> = {
  call(args: Input, options?: CallOptions): Promise<Result>;
}['call'];

/** Name of the method by which a context runs a tool. */
export const executeTool = Symbol('executeTool');

/** What a {@link Tool} is made of. */
export interface RawTool<Args, Result, Input = Args> {
  /** Unique in its registry. */
  readonly name: string;
  /** For the model. */
  readonly description: string;
  /**
   * What the arguments must be: a JSON Schema, which the module validates by, or a Standard Schema (of Zod, Valibot,
   * ArkType …), which validates by itself and says what types the handler gets.
   */
  readonly inputSchema: ObjectSchema | StandardSchema<Input, Args>;
  /**
   * The JSON Schema that a model is shown of a Standard Schema which gives none itself: because its library cannot, or
   * because it has a part that JSON Schema has no words for. It only describes.
   */
  readonly jsonSchema?: ObjectSchema | undefined;
  readonly handler: ToolHandler<Args, Result>;
  /**
   * Gives the class of artifacts that the chat executor wraps text results in: the model gets a handle. It is called once
   * here, to check the class.
   */
  readonly artifactConstructor?: (() => AnyArtifactClass) | undefined;
  /** The tool's own data, which its handler gets. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** Whether it goes when its dispatch has acked. Default false. */
  readonly ephemeral?: boolean | undefined;
  /** Whether its results count as written by the operator. Default false. */
  readonly trusted?: boolean | undefined;
  /** What happens when a merged registry has the name already. Default "throw". */
  readonly onCollision?: CollisionPolicy | undefined;
}

/** How a model is told of a tool. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: ObjectSchema;
}

/**
 * Something a model may call. Immutable.
 *
 * @typeParam Args what the handler gets, as the schema describes it
 * @typeParam Result what the handler returns
 * @typeParam Input what a caller gives: differs from Args when validation changes it
 */
export class Tool<Args = Record<string, unknown>, Result = unknown, Input = Args> {
  /** Unique in its registry. */
  readonly name: string;
  /** For the model. */
  readonly description: string;
  /** What the arguments must be: a JSON Schema, deeply frozen, or the Standard Schema that was given. */
  readonly inputSchema: ObjectSchema | StandardSchema<Input, Args>;
  /** What a model is shown of it, deeply frozen. */
  readonly jsonSchema: ObjectSchema;
  /** Runs the tool. {@link executor} is how it is called. */
  readonly handler: ToolHandler<Args, Result>;
  /** Gives the class of artifacts for its results, if it has one. */
  readonly artifactConstructor: (() => AnyArtifactClass) | undefined;
  /** The tool's own data. */
  readonly meta: Stash;
  /** Whether it goes when its dispatch has acked. */
  readonly ephemeral: boolean;
  /** Whether its results count as written by the operator. */
  readonly trusted: boolean;
  /** What happens when a merged registry has the name already. */
  readonly onCollision: CollisionPolicy;

  /** @throws TurncoreError E_INVALID_INITIAL_TOOL_VALUE listing every violation */
  constructor(raw: RawTool<Args, Result, Input>) {
    const values = check(this instanceof ArtifactTool ? 'ArtifactTool' : 'Tool', raw, {
      artifactClass: toArtifactClass,
      schema: schemaOf(raw),
      also: ({ meta }) => stashViolations(meta, 'meta'),
    });
    this.name = values['name'] as string;
    this.description = values['description'] as string;
    const { given, json } = values['inputSchema'] as Schemas;
    this.inputSchema = given as ObjectSchema | StandardSchema<Input, Args>;
    this.jsonSchema = json;
    this.handler = values['handler'] as ToolHandler<Args, Result>;
    this.artifactConstructor = values['artifactConstructor'] as
      (() => AnyArtifactClass) | undefined;
    this.meta = new Stash(values['meta'] as Record<string, unknown>);
    this.ephemeral = values['ephemeral'] as boolean;
    this.trusted = values['trusted'] as boolean;
    this.onCollision = values['onCollision'] as CollisionPolicy;
    Object.freeze(this);
  }

  /** What a model is told of it. */
  describe(): ToolDescription {
    return { name: this.name, description: this.description, inputSchema: this.jsonSchema };
  }

  /**
   * Checks arguments as a call does, without a call: nothing is converted, defaults are filled in.
   *
   * @param args JSON-like data
   * @param host where a JSON Schema is looked at: a Host, or options for one. Default: a shared one
   * @returns what the handler would get
   * @throws TurncoreError (rejects) E_INVALID_TOOL_ARGS, and E_INVALID_INITIAL_TOOL_VALUE for a JSON Schema that uses
   *   what is not supported; and whatever a Standard Schema throws
   */
  async validate(args: unknown, host?: object): Promise<Args> {
    const schema = this.inputSchema;
    if (isStandardSchema(schema)) return validateArguments(schema, this.name, args);
    requireArguments(this.name, args);
    // What runs the module has tools itself. Nothing is registered, so that bundlers may leave out what is not used.
    const { validateBySchema } = await import('../host/validate-arguments.js');
    return (await validateBySchema(this, args, host)) as Args;
  }

  /**
   * The way to call the tool within a dispatch: checks the arguments against the schema, tells observers with
   * toolExecutionStart and toolExecutionEnd, and runs the handler.
   *
   * @returns a function that resolves to what the handler returned. It rejects with E_INVALID_TOOL_ARGS when the
   *   arguments break the schema (the handler is not called), with E_TOOL_DOWNSTREAM_ERROR when the handler threw, and
   *   with E_CALL_AFTER_END when the dispatch had ended before the handler
   * @throws TurncoreError E_INVALID_VALUE for anything that is not a context of a dispatch
   */
  executor(ctx: DispatchContext): ToolCaller<Input, Result> {
    requireCaller(ctx);
    return (args, options) =>
      attempt(() => ctx[executeTool](this, args, options) as Promise<Result>);
  }
}

/**
 * A tool whose result is text that the model reads as it is: it is not kept as an artifact, and its calls are stored with
 * `fromArtifactTool`, so that no reader tool is offered for them. It has no artifactConstructor.
 */
export class ArtifactTool<Args = Record<string, unknown>, Input = Args> extends Tool<
  Args,
  ArtifactText,
  Input
> {
  /** @throws TurncoreError E_INVALID_INITIAL_TOOL_VALUE listing every violation */
  // eslint-disable-next-line @typescript-eslint/no-useless-constructor -- narrows what it takes
  constructor(raw: Omit<RawTool<Args, ArtifactText, Input>, 'artifactConstructor'>) {
    super(raw);
  }
}

/** Text: a string or a Tokenizable. */
export type ArtifactText = string | { render(): string };

/** A tool whatever its arguments. */
export interface AnyTool extends Omit<Tool, 'inputSchema' | 'handler' | 'executor' | 'validate'> {
  readonly inputSchema: ObjectSchema | StandardSchema;
  readonly handler: {
    run(args: unknown, ctx: DispatchContext, meta: Stash): unknown;
  }['run'];
  /** See `validate` of a `Tool`. */
  validate(args: unknown, host?: object): Promise<unknown>;
  /** See `executor` of a `Tool`. */
  executor(ctx: DispatchContext): ToolCaller<unknown, unknown>;
}

/** @throws TurncoreError E_INVALID_VALUE unless tools can be called in the context */
function requireCaller(ctx: Partial<DispatchContext> | null | undefined): void {
  if (typeof ctx?.[executeTool] !== 'function') {
    throw invalidValue('ctx', 'must be a DispatchContext: tools are called in a dispatch');
  }
}

/** @throws TurncoreError E_INVALID_TOOL_ARGS when there are none: every tool takes an object */
export function requireArguments(tool: string, args: unknown): void {
  if (args !== undefined && args !== null) return;
  const message = `the value must be object, not ${args === null ? 'null' : 'undefined'}`;
  throw TurncoreError.of('E_INVALID_TOOL_ARGS', `${tool}: ${message}`, {
    details: [{ path: '', keyword: 'type', message }],
    cause: TurncoreError.of('VALIDATION_EXCEPTION', message),
  });
}

/** Writes the arguments of a call, which throws a TurncoreError E_INVALID_TOOL_ARGS by the part that has no encoding. */
export function writeArguments(args: unknown): Write {
  return (e) => {
    try {
      e.value(args, 'args');
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw TurncoreError.of('E_INVALID_TOOL_ARGS', why, { cause });
    }
  };
}

/** A schema as it was given, and the JSON Schema of it. */
interface Schemas {
  readonly given: ObjectSchema | StandardSchema;
  readonly json: ObjectSchema;
}

/** Takes either kind of schema. */
function schemaOf(raw: unknown): Converter {
  return (value, report) => {
    if (!isStandardSchema(value)) {
      const json = toSchema(value, report);
      return json === invalid ? invalid : { given: json, json };
    }
    const supplied = (raw as { jsonSchema?: unknown }).jsonSchema;
    if (supplied !== undefined) {
      const json = toSchema(supplied, report);
      return json === invalid ? invalid : { given: value, json };
    }
    const missing = (why: string): typeof invalid => {
      report(phrase('jsonSchema', { other: 'jsonSchema', why }));
      return invalid;
    };
    let json: unknown;
    try {
      json = inputJsonSchema(value);
    } catch (error) {
      return missing(error instanceof Error ? error.message : String(error));
    }
    if (json === undefined) return missing(`${value['~standard'].vendor} gives none`);
    const converted = toSchema(json, report);
    return converted === invalid
      ? missing('it is not of type object')
      : { given: value, json: converted };
  };
}
