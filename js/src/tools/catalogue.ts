/**
 * Tools whose handlers are compiled into the module.
 */
import { suggest } from '../validation/suggest.js';
import { CATALOGUE } from '../abi/catalogue.gen.js';
import { asBuiltin, builtinOf } from '../builtin.js';
import { TurncoreError } from '../errors.js';
import { isObject } from '../validation/field-kinds.js';
import { type AnyTool, executeTool, type ObjectSchema, Tool, type ToolHandler } from './tool.js';

/**
 * Tells the model the date and the time of the host's clock, as "2024-02-29T13:05:09+02:00, Thursday". It takes an
 * offset from UTC; the module does not know names of time zones.
 */
export function timeTool(): Tool<{ offset?: string }, string> {
  return moduleTool('time', true);
}

/**
 * Calculates arithmetic expressions for the model: numbers (64-bit floating point), + - * / % ^, parentheses up to
 * 100 levels, and the functions abs, ceil, floor, max, min, round and sqrt. An invalid expression fails with
 * E_TOOL_CALCULATION, which names the character.
 */
export function calculatorTool(): Tool<{ expression: string }, number> {
  return moduleTool('calculator', true);
}

/**
 * Lets the model keep memories: `remember` stores one, `recall` searches and lists them, `forget` deletes one. These
 * are ordinary writes of the iteration and go through the storage callbacks.
 */
export function memoryTools(): [
  Tool<{ content: string; importance?: number }, { id: string }>,
  Tool<{ query?: string; limit?: number }, { id: string; content: string }[]>,
  Tool<{ id: string }, string>,
] {
  return [moduleTool('remember', false), moduleTool('recall', false), moduleTool('forget', false)];
}

/** A line found by a search. Lines count from 0. */
export interface FoundLine {
  /** Id of the document, or of the artifact as in its reader tools. */
  readonly id: string;
  readonly line: number;
  /** Its first 1,024 bytes. */
  readonly text: string;
}

/**
 * Lets the model search the retrieved documents of the turn, spooled or not, for lines that contain all given words.
 */
export function retrievablesTool(): Tool<{ query: string; limit?: number }, FoundLine[]> {
  return moduleTool('search_retrievables', false);
}

/**
 * Lets the model search all artifacts of the turn, results of tool calls and spooled documents, for lines that
 * contain all given words.
 */
export function artifactsTool(): Tool<{ query: string; limit?: number }, FoundLine[]> {
  return moduleTool('search_artifacts', false);
}

/** An HTTP method of {@link fetchTool}. */
export type FetchMethod = 'GET' | 'HEAD' | 'DELETE' | 'POST' | 'PUT' | 'PATCH';

/** Options of {@link fetchTool}. */
export interface FetchOptions {
  /**
   * Allowed addresses: origins like `https://example.com`; with a path, only that path and everything below it.
   */
  readonly allow: readonly string[];
  /** Methods that the model may use. POST, PUT and PATCH let it send a text. Default: GET and HEAD. */
  readonly methods?: readonly FetchMethod[] | undefined;
  /** Bytes of a page to read; the rest is cut off. Default 1 MiB, at most 8 MiB. */
  readonly maxBytes?: number | undefined;
  /**
   * Bytes of text that the model gets directly. A longer text becomes a document of the context, which the model
   * reads with the tools for artifacts. Default 16 KiB.
   */
  readonly maxInline?: number | undefined;
  /** Cut off a longer text instead of storing it as a document. Default false. */
  readonly cut?: boolean | undefined;
  /** Time for the request with its redirects, in milliseconds. Default 30,000, at most 600,000. */
  readonly timeoutMs?: number | undefined;
  /** Number of redirects to follow, each to an allowed address. Default 5, at most 20. */
  readonly redirects?: number | undefined;
}

/** A model's arguments of a {@link fetchTool}. */
export interface FetchArgs {
  readonly url: string;
  readonly method?: FetchMethod;
  /** The body of POST, PUT and PATCH. */
  readonly body?: string;
  /** Media type of the body. */
  readonly contentType?: string;
}

/** Names of the options of fetch. */
const FETCH_OPTIONS: readonly (keyof FetchOptions)[] = [
  'allow',
  'methods',
  'maxBytes',
  'maxInline',
  'cut',
  'timeoutMs',
  'redirects',
];

/**
 * Lets the model fetch pages and files of the web as text: HTML as Markdown-like text, other text unchanged. It
 * requests only addresses that the options and the host's `allowedOrigins` allow, sends no credentials and keeps no
 * cookies. Failures have the code E_TOOL_FETCH with the reason, or the error of the request. In a page it is bound by
 * CORS, and a redirect is E_HTTP_REDIRECT.
 *
 * @throws TurncoreError E_INVALID_INITIAL_TOOL_VALUE for lists that are not lists, and for unknown options. Other
 * invalid options fail with it when the tool is first used
 */
export function fetchTool(options: FetchOptions): Tool<FetchArgs, string> {
  if (!isObject(options)) {
    throw TurncoreError.of('E_INVALID_INITIAL_TOOL_VALUE', 'fetch: the options must be an object');
  }
  const { allow, methods = ['GET', 'HEAD'], ...more } = options;
  const { maxBytes, maxInline, cut, timeoutMs, redirects, ...unknown } = more;
  for (const name of Object.keys(unknown)) {
    const meant = suggest(name, FETCH_OPTIONS);
    const hint = meant === undefined ? '' : `; did you mean \`${meant}\`?`;
    throw TurncoreError.of(
      'E_INVALID_INITIAL_TOOL_VALUE',
      `fetch: \`${name}\` is not a known option${hint}`,
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
    // In the order of languages whose maps have no order.
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

/** The allowed addresses of a tool; none for a tool not made by {@link fetchTool}. */
export function fetchAddresses(tool: AnyTool): readonly string[] {
  const builtin = builtinOf(tool.handler);
  return builtin?.name === 'fetch' ? (builtin.argument as { allow: string[] }).allow : [];
}

/** Differences from the catalogue's entry, and the handler's argument. */
interface Adapted {
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly argument: unknown;
}

/**
 * A tool whose handler is in the module under the tool's name. Tools whose results come only from the clock or from
 * arithmetic are trusted.
 */
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
