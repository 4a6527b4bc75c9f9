/**
 * Tools: functions that a model may call.
 */
import { artifactToolRules, toolRules } from '../abi/rules.gen.js';
import { attempt } from '../attempt.js';
import type { Write } from '../codec/encoder.js';
import type { DispatchContext } from '../context/dispatch-context.js';
import { invalidValue, messageOf, TurncoreError } from '../errors.js';
import { Stash, stashViolations } from '../stash/stash.js';
import {
  type AnyArtifactClass,
  artifactClassOf,
  hasArtifactMethods,
} from '../validation/artifact-class.js';
import { type Converter, invalid, type ObjectSchema, toSchema } from '../validation/field-kinds.js';
import { check, phrase } from '../validation/rules.js';
import { toolBrand } from './brand.js';
import {
  inputJsonSchema,
  isStandardSchema,
  type StandardSchema,
  validateArguments,
} from './standard-schema.js';

/** The action on a name collision when registries are merged. */
export type CollisionPolicy = 'throw' | 'replace' | 'keep';

export type { ObjectSchema };

/**
 * Runs a tool. It may return any value; its result or error goes to the caller.
 *
 * @param args the arguments, validated, defaults filled in
 * @param ctx the dispatch that the call belongs to; its `idempotencyKey` names the call
 * @param meta the tool's own data
 */
export type ToolHandler<Args, Result> = (
  args: Args,
  ctx: DispatchContext,
  meta: Stash,
) => Result | PromiseLike<Result>;

/** Options of a tool call. */
export interface CallOptions {
  /** The provider's id of the call, for the events of the execution. */
  readonly providerCallId?: string | undefined;
}

/** Calls a tool within a dispatch. */
export type ToolCaller<Input, Result> = {
  call(args: Input, options?: CallOptions): Promise<Result>;
}['call'];

/** Name of the method by which a context runs a tool, also one of another copy of this package. */
export const executeTool = Symbol.for('turncore.executeTool');

/** The fields of a {@link Tool}. */
export interface RawTool<Args, Result, Input = Args> {
  /** Unique in its registry. */
  readonly name: string;
  /** For the model. */
  readonly description: string;
  /**
   * The schema of the arguments: a JSON Schema, with which the module validates, or a Standard Schema (of Zod,
   * Valibot, ArkType …), which validates by itself and types the handler's arguments.
   */
  readonly inputSchema: ObjectSchema | StandardSchema<Input, Args>;
  /**
   * The JSON Schema to show the model for a Standard Schema that provides none: because its library cannot, or
   * because JSON Schema cannot express a part of it. It only describes the arguments.
   */
  readonly jsonSchema?: ObjectSchema | undefined;
  readonly handler: ToolHandler<Args, Result>;
  /**
   * Returns the class of artifact in which the chat executor wraps text results: the model gets a handle. It is
   * called once here, to check the class.
   */
  readonly artifactConstructor?: (() => AnyArtifactClass) | undefined;
  /** The tool's own data, passed to its handler. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** Whether to remove it when its dispatch acks. Default false. */
  readonly ephemeral?: boolean | undefined;
  /** Whether its results count as written by the operator. Default false. */
  readonly trusted?: boolean | undefined;
  /** The action when a merged registry already has the name. Default "throw". */
  readonly onCollision?: CollisionPolicy | undefined;
}

/** A tool's description for a model. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: ObjectSchema;
}

/**
 * A function that a model may call. Immutable.
 *
 * @typeParam Args the handler's arguments, as the schema describes them
 * @typeParam Result the handler's result
 * @typeParam Input the caller's arguments: differs from Args if validation changes them
 */
export class Tool<Args = Record<string, unknown>, Result = unknown, Input = Args> {
  /** Unique in its registry. */
  readonly name: string;
  /** For the model. */
  readonly description: string;
  /** The schema of the arguments: a JSON Schema, deeply frozen, or the given Standard Schema. */
  readonly inputSchema: ObjectSchema | StandardSchema<Input, Args>;
  /** The JSON Schema for the model, deeply frozen. */
  readonly jsonSchema: ObjectSchema;
  /** Runs the tool. Call it through {@link executor}. */
  readonly handler: ToolHandler<Args, Result>;
  /** Returns the class of artifacts for its results, if it has one. */
  readonly artifactConstructor: (() => AnyArtifactClass) | undefined;
  /** The tool's own data. */
  readonly meta: Stash;
  /** Whether it is removed when its dispatch acks. */
  readonly ephemeral: boolean;
  /** Whether its results count as written by the operator. */
  readonly trusted: boolean;
  /** The action when a merged registry already has the name. */
  readonly onCollision: CollisionPolicy;

  /** @throws TurncoreError E_INVALID_INITIAL_TOOL_VALUE listing every violation */
  constructor(raw: RawTool<Args, Result, Input>) {
    const values = check(this instanceof ArtifactTool ? artifactToolRules : toolRules, raw, {
      artifactClass: artifactClassOf(hasArtifactMethods),
      schema: schemaOf(raw),
      also: ({ meta }) => stashViolations(meta, 'meta'),
    });
    this.name = values.name;
    this.description = values.description;
    const { given, json } = values.inputSchema;
    this.inputSchema = given as ObjectSchema | StandardSchema<Input, Args>;
    this.jsonSchema = json;
    this.handler = values.handler as ToolHandler<Args, Result>;
    this.artifactConstructor =
      'artifactConstructor' in values ? values.artifactConstructor : undefined;
    this.meta = new Stash(values.meta);
    this.ephemeral = values.ephemeral;
    this.trusted = values.trusted;
    this.onCollision = values.onCollision;
    Object.freeze(this);
  }

  /** @internal Tells Tools. */
  // eslint-disable-next-line @typescript-eslint/class-literal-property-style -- no property of each tool, as printed
  get [toolBrand](): true {
    return true;
  }

  /** Its description for a model. */
  describe(): ToolDescription {
    return { name: this.name, description: this.description, inputSchema: this.jsonSchema };
  }

  /**
   * Checks arguments as a call does, without a call: nothing is converted, defaults are filled in.
   *
   * @param args JSON-like data
   * @param host the host that checks a JSON Schema: a Host, or options for one. Default: a shared one
   * @returns the handler's arguments
   * @throws TurncoreError (rejects) E_INVALID_TOOL_ARGS, and E_INVALID_INITIAL_TOOL_VALUE for a JSON Schema with
   * unsupported features; and any error of a Standard Schema
   */
  async validate(args: unknown, host?: object): Promise<Args> {
    const schema = this.inputSchema;
    if (isStandardSchema(schema)) return validateArguments(schema, this.name, args);
    requireArguments(this.name, args);
    // The code that runs the module itself uses tools. Nothing is registered, so that bundlers can drop unused code.
    const { validateBySchema } = await import('../host/validate-arguments.js');
    return (await validateBySchema(this, args, host)) as Args;
  }

  /**
   * Calls the tool within a dispatch: checks the arguments against the schema, notifies observers with
   * toolExecutionStart and toolExecutionEnd, and runs the handler.
   *
   * @returns a function that resolves to the handler's result. It rejects with E_INVALID_TOOL_ARGS if the arguments
   * do not match the schema (the handler does not run), with E_TOOL_DOWNSTREAM_ERROR if the handler threw, and with
   * E_CALL_AFTER_END if the dispatch ended before the handler
   * @throws TurncoreError E_INVALID_VALUE for anything that is not a context of a dispatch
   */
  executor(ctx: DispatchContext): ToolCaller<Input, Result> {
    requireCaller(ctx);
    return (args, options) =>
      attempt(() => ctx[executeTool](this, args, options) as Promise<Result>);
  }
}

/**
 * A tool whose text result the model gets unchanged: it does not become an artifact, and its calls are stored with
 * `fromArtifactTool`, so that they get no reader tools. It has no artifactConstructor.
 */
export class ArtifactTool<Args = Record<string, unknown>, Input = Args> extends Tool<
  Args,
  ArtifactText,
  Input
> {
  /** @throws TurncoreError E_INVALID_INITIAL_TOOL_VALUE listing every violation */
  // eslint-disable-next-line @typescript-eslint/no-useless-constructor -- narrows its parameter
  constructor(raw: Omit<RawTool<Args, ArtifactText, Input>, 'artifactConstructor'>) {
    super(raw);
  }
}

/** Text: a string or a Tokenizable. */
export type ArtifactText = string | { render(): string };

/** A tool with any arguments. */
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

/** @throws TurncoreError E_INVALID_VALUE unless the context can call tools */
function requireCaller(ctx: Partial<DispatchContext> | null | undefined): void {
  if (typeof ctx?.[executeTool] !== 'function') {
    throw invalidValue('ctx', 'must be a DispatchContext: tools are called in a dispatch');
  }
}

/** @throws TurncoreError E_INVALID_TOOL_ARGS if there are none: every tool takes an object */
export function requireArguments(tool: string, args: unknown): void {
  if (args !== undefined && args !== null) return;
  const message = `the value must be object, not ${args === null ? 'null' : 'undefined'}`;
  throw TurncoreError.of('E_INVALID_TOOL_ARGS', `${tool}: ${message}`, {
    details: [{ path: '', keyword: 'type', message }],
    cause: TurncoreError.of('VALIDATION_EXCEPTION', message),
  });
}

/** Writes the arguments of a call. Throws a TurncoreError E_INVALID_TOOL_ARGS that names a part without an encoding. */
export function writeArguments(args: unknown): Write {
  return (e) => {
    try {
      e.value(args, 'args');
    } catch (cause) {
      throw TurncoreError.of('E_INVALID_TOOL_ARGS', messageOf(cause), { cause });
    }
  };
}

/** The given schema, and its JSON Schema. */
interface Schemas {
  readonly given: ObjectSchema | StandardSchema;
  readonly json: ObjectSchema;
}

/** Accepts either kind of schema. */
function schemaOf(raw: unknown): Converter<Schemas> {
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
      return missing(messageOf(error));
    }
    if (json === undefined) return missing(`${value['~standard'].vendor} gives none`);
    const converted = toSchema(json, report);
    return converted === invalid
      ? missing('it is not of type object')
      : { given: value, json: converted };
  };
}
