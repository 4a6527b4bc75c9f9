/**
 * Tools whose handlers are compiled into the module.
 */
import { CATALOGUE } from '../abi/catalogue.gen.js';
import { asBuiltin, builtinOf } from '../builtin.js';
import { TurncoreError } from '../errors.js';
import { isObject } from '../validation/field-kinds.js';
import { type AnyTool, executeTool, type ObjectSchema, Tool, type ToolHandler } from './tool.js';

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

/** A method that {@link fetchTool} can be given. */
export type FetchMethod = 'GET' | 'HEAD' | 'DELETE' | 'POST' | 'PUT' | 'PATCH';

/** What a {@link fetchTool} is made with. */
export interface FetchOptions {
  /**
   * The addresses that the tool goes to: origins like `https://example.com`, all of it, or with a path, which allows that
   * path and what is below it.
   */
  readonly allow: readonly string[];
  /** What a model may use. POST, PUT and PATCH let it send a text. Default: GET and HEAD. */
  readonly methods?: readonly FetchMethod[] | undefined;
  /** Bytes of a page that are read; what is longer is cut off. Default 1 MiB, at most 8 MiB. */
  readonly maxBytes?: number | undefined;
  /**
   * Bytes of text that the model gets at once; a longer text becomes a document of the context, which it reads with the
   * tools for artifacts. Default 16 KiB.
   */
  readonly maxInline?: number | undefined;
  /** Cut a longer text off, and do not store it as a document. Default false. */
  readonly cut?: boolean | undefined;
  /** How long all of it may take, redirects too, in milliseconds. Default 30,000, at most 600,000. */
  readonly timeoutMs?: number | undefined;
  /** Redirects that are followed, each to an allowed address. Default 5, at most 20. */
  readonly redirects?: number | undefined;
}

/** What a model gives to a {@link fetchTool}. */
export interface FetchArgs {
  readonly url: string;
  readonly method?: FetchMethod;
  /** What is sent by POST, PUT and PATCH. */
  readonly body?: string;
  /** Media type of the body. */
  readonly contentType?: string;
}

/**
 * Lets the model fetch pages and files of the web as text: HTML as what it says, in the manner of Markdown, other text as
 * it is. It goes nowhere but where the options and the host's `allowedOrigins` let it, sends no credentials and keeps no
 * cookies. What goes wrong fails with E_TOOL_FETCH, which says what, or with the error of the request. In a page it is
 * bound by CORS, and a redirect is E_HTTP_REDIRECT.
 *
 * @throws TurncoreError E_INVALID_INITIAL_TOOL_VALUE for lists that are none, and for options that are not known. Other
 *   options that break a rule are that when the tool is first used
 */
export function fetchTool(options: FetchOptions): Tool<FetchArgs, string> {
  if (!isObject(options)) {
    throw TurncoreError.of('E_INVALID_INITIAL_TOOL_VALUE', 'fetch: the options must be an object');
  }
  const { allow, methods = ['GET', 'HEAD'], ...more } = options;
  const { maxBytes, maxInline, cut, timeoutMs, redirects, ...unknown } = more;
  for (const name of Object.keys(unknown)) {
    throw TurncoreError.of(
      'E_INVALID_INITIAL_TOOL_VALUE',
      `fetch: \`${name}\` is not a known option`,
    );
  }
  requireTexts('allow', allow);
  requireTexts('methods', methods);
  const entry = CATALOGUE.fetch;
  const { url, method, body, contentType } = entry.inputSchema.properties;
  const sends = methods.some((m) => m === 'POST' || m === 'PUT' || m === 'PATCH');
  return moduleTool('fetch', false, {
    description: `${entry.description} The address must begin with one of these: ${allow.join(', ')}.`,
    inputSchema: {
      ...entry.inputSchema,
      properties: {
        url,
        method: { ...method, enum: methods, default: methods[0] },
        ...(sends ? { body, contentType } : {}),
      },
    },
    // In the order in which a language writes them whose maps have none.
    argument: {
      allow: [...allow],
      cut: cut ?? false,
      maxBytes,
      maxInline,
      methods: [...methods],
      redirects,
      timeoutMs,
    },
  });
}

function requireTexts(name: string, list: unknown): void {
  const texts = Array.isArray(list) ? (list as unknown[]) : [];
  if (texts.length === 0 || !texts.every((text) => typeof text === 'string' && text !== '')) {
    throw TurncoreError.of(
      'E_INVALID_INITIAL_TOOL_VALUE',
      `fetch: \`${name}\` must be a list of non-empty strings, at least one`,
    );
  }
}

/** The addresses that a tool fetches from; none for a tool that is not {@link fetchTool}'s. */
export function fetchAddresses(tool: AnyTool): readonly string[] {
  const builtin = builtinOf(tool.handler);
  return builtin?.name === 'fetch' ? (builtin.argument as { allow: string[] }).allow : [];
}

/** What differs from the catalogue's entry, and what the handler is made with. */
interface Adapted {
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly argument: unknown;
}

/** A tool whose handler is in the module under the tool's name. One that only says what clock or arithmetic say is trusted. */
function moduleTool<Args, Result>(
  name: keyof typeof CATALOGUE,
  trusted: boolean,
  adapted?: Adapted,
): Tool<Args, Result> {
  const { description, inputSchema } = adapted ?? CATALOGUE[name];
  const handler: ToolHandler<Args, Result> = (args, ctx) =>
    ctx[executeTool](tool, args) as Promise<Result>;
  const tool: Tool<Args, Result> = new Tool<Args, Result>({
    name,
    description,
    inputSchema,
    handler: asBuiltin({ name, argument: adapted?.argument }, handler),
    trusted,
  });
  return tool;
}
