/**
 * The model that a run talks to.
 */
import type { Clock } from '../entropy.js';
import type { ChatOptions } from '../models/chat-options.js';
import type { Credential } from '../pump/credential.js';
import { SIMULATED_MODEL, simulatedProvider } from '../simulated/provider.js';
import type { AnyTool } from '../tools/tool.js';
import { builtinTools } from './builtin-tools.js';
import type { RunOptions } from './command-line.js';
import { serveLoopback } from './loopback.js';
import { programTool } from './program-tool.js';

/** A model, and how to reach it. */
export interface Provider {
  readonly chat: ChatOptions;
  readonly tools: readonly AnyTool[];
  readonly credentials: Readonly<Record<string, Credential>>;
  /** Undefined for the platform's own. */
  readonly fetch: typeof fetch | undefined;
  readonly close: () => void;
}

/** The model that an endpoint is asked for when none is named. */
const DEFAULT_MODEL = 'gpt-4o-mini';
/** Name by which the module knows the key. */
const KEY = 'openai';
/** Where the simulated provider seems to be. */
const SIMULATED_URL = 'http://simulated/v1';

/** The provider that the options name, or the simulated one. */
export async function providerOf(options: RunOptions, clock: Clock): Promise<Provider> {
  const programs = options.tools.map(programTool);
  const { baseURL } = options;
  if (baseURL !== undefined) return endpoint(options, baseURL, programs);
  const taken = new Set(options.tools.map(({ name }) => name));
  const { fetch, close } = await serveLoopback(simulatedProvider());
  return {
    chat: { baseURL: SIMULATED_URL, model: options.model ?? SIMULATED_MODEL },
    tools: [...builtinTools(clock).filter(({ name }) => !taken.has(name)), ...programs],
    credentials: {},
    fetch,
    close,
  };
}

function endpoint(options: RunOptions, baseURL: string, tools: readonly AnyTool[]): Provider {
  const chat = { baseURL, model: options.model ?? DEFAULT_MODEL };
  const plain = { chat, tools, credentials: {}, fetch: undefined, close: () => undefined };
  if (options.key === undefined) return plain;
  const { origin } = new URL(baseURL);
  const key = { header: 'authorization', value: `Bearer ${options.key}`, origins: [origin] };
  return { ...plain, chat: { ...chat, credential: KEY }, credentials: { [KEY]: key } };
}
