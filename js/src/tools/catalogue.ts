/**
 * Tools whose handlers are compiled into the module.
 */
import { CATALOGUE } from '../abi/catalogue.gen.js';
import { asBuiltin } from '../builtin.js';
import { executeTool, Tool, type ToolHandler } from './tool.js';

/**
 * Tells the model the date and the time of the host's clock, as "2024-02-29T13:05:09+02:00, Thursday". It takes an offset
 * from UTC; names of time zones are not known to the module.
 */
export function timeTool(): Tool<{ offset?: string }, string> {
  return moduleTool('time', true);
}

/**
 * Calculates arithmetic expressions for the model: numbers (64-bit floating point), + - * / % ^, parentheses up to 100
 * levels, and the functions abs, ceil, floor, max, min, round and sqrt. An expression that cannot be calculated fails
 * with E_TOOL_CALCULATION, which says at which character.
 */
export function calculatorTool(): Tool<{ expression: string }, number> {
  return moduleTool('calculator', true);
}

/**
 * Let the model keep memories: `remember` stores one, `recall` searches and lists them, `forget` deletes one. They are
 * writes of the iteration like any other, and go through the storage callbacks.
 */
export function memoryTools(): [
  Tool<{ content: string; importance?: number }, { id: string }>,
  Tool<{ query?: string; limit?: number }, { id: string; content: string }[]>,
  Tool<{ id: string }, string>,
] {
  return [moduleTool('remember', false), moduleTool('recall', false), moduleTool('forget', false)];
}

/** A line that a search found. Lines count from 0. */
export interface FoundLine {
  /** Of the document, or of the artifact as its reader tools know it. */
  readonly id: string;
  readonly line: number;
  /** Its first 1,024 bytes. */
  readonly text: string;
}

/**
 * Lets the model search the retrieved documents of the turn for lines in which all given words occur, also those whose
 * text is spooled.
 */
export function retrievablesTool(): Tool<{ query: string; limit?: number }, FoundLine[]> {
  return moduleTool('search_retrievables', false);
}

/**
 * Lets the model search all artifacts of the turn, results of tool calls and spooled documents, for lines in which all
 * given words occur.
 */
export function artifactsTool(): Tool<{ query: string; limit?: number }, FoundLine[]> {
  return moduleTool('search_artifacts', false);
}

/** A tool whose handler is in the module under the tool's name. One that only says what clock or arithmetic say is trusted. */
function moduleTool<Args, Result>(
  name: keyof typeof CATALOGUE,
  trusted: boolean,
): Tool<Args, Result> {
  const { description, inputSchema } = CATALOGUE[name];
  const handler: ToolHandler<Args, Result> = (args, ctx) =>
    ctx[executeTool](tool, args) as Promise<Result>;
  const tool: Tool<Args, Result> = new Tool<Args, Result>({
    name,
    description,
    inputSchema,
    handler: asBuiltin({ name, argument: undefined }, handler),
    trusted,
  });
  return tool;
}
