/**
 * Tools of agents.
 */
import { type Awaitable, isThenable } from '../awaitable.js';
import { builtinOf } from '../builtin.js';
import { isTool } from '../tools/is-tool.js';
import { type AnyTool, type ObjectSchema, Tool } from '../tools/tool.js';
import type { StandardSchema } from '../tools/standard-schema.js';
import { type CallbackContext, ToolContext } from './contexts.js';
import type { ToolParams, ToolSchema } from './tool-params.js';

/** What a person is asked before a tool runs. */
export interface ConfirmationDetails {
  readonly hint?: string;
  readonly payload?: unknown;
}

/**
 * A tool as an object with a method.
 *
 * @typeParam Params the arguments
 * @typeParam Schema the type of its schema
 */
export interface SessionTool<Params = never, Schema = ToolSchema> {
  /** Unique among the agent's tools. */
  readonly name: string;
  /** For the model. */
  readonly description: string;
  /** The schema of the arguments: a JSON Schema, or a Standard Schema such as Zod's. Default: any object. */
  readonly inputSchema?: Schema | undefined;
  /** The JSON Schema to show the model for a Standard Schema that provides none. */
  readonly jsonSchema?: ObjectSchema | undefined;
  /** Its answer comes later, from outside. The run goes on if it gives a result at once. Default false. */
  readonly isLongRunning?: boolean | undefined;
  /** Whether a person is asked before it runs; or a function that decides, from the arguments as the model gave them. */
  readonly requireConfirmation?:
    | boolean
    | {
        ask(params: Params, ctx: CallbackContext): Awaitable<boolean | ConfirmationDetails>;
      }['ask']
    | undefined;
  /** Runs the tool. What it throws, the model gets as the result. */
  readonly runAsync: {
    run(params: Params, toolCtx: ToolContext): unknown;
  }['run'];
}

/** A tool of an agent: one of turncore, or an object with a method. */
export type LlmAgentTool = AnyTool | SessionTool;

/** A tool whose schema types its arguments. It is the given object: a runner checks it. */
export function createTool<const Schema extends ToolSchema = ToolSchema>(
  tool: SessionTool<ToolParams<Schema>, Schema>,
): SessionTool<ToolParams<Schema>> {
  return tool;
}

/** A tool that tells the module what its handler has done besides its result. */
export function toolOf(given: LlmAgentTool): AnyTool {
  const tool = isTool(given) ? given : madeOf(given);
  if (builtinOf(tool.handler) !== undefined) return tool; // it runs in the module
  const handler: AnyTool['handler'] = (args, ctx, meta) => {
    const told = ctx instanceof ToolContext ? ctx : undefined;
    const done = (result: unknown): unknown => {
      told?.tell();
      return result;
    };
    const failed = (error: unknown): never => {
      try {
        told?.tell();
      } catch {
        // The model is told why the handler has failed.
      }
      throw error;
    };
    let result: unknown;
    try {
      result = tool.handler(args, ctx, meta);
    } catch (error) {
      return failed(error);
    }
    return isThenable(result) ? Promise.resolve(result).then(done, failed) : done(result);
  };
  return Object.create(tool, { handler: { value: handler } }) as AnyTool;
}

function madeOf(tool: SessionTool): AnyTool {
  return new Tool({
    name: tool.name,
    description: tool.description,
    inputSchema: (tool.inputSchema ?? { type: 'object' }) as ObjectSchema | StandardSchema,
    jsonSchema: tool.jsonSchema,
    handler: (params: unknown, ctx) => tool.runAsync(params as never, ctx as never),
  });
}
