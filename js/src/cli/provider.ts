/**
 * The model of a run.
 */
import type { Clock } from '../entropy.js';
import { providerKey } from '../chat/providers.js';
import type { ChatOptions, ProviderName } from '../chat/options.gen.js';
import type { Credential } from '../http/credential.js';
import { simulatedFetch } from '../simulated/fetch.js';
import type { AnyTool } from '../tools/tool.js';
import { builtinTools } from './builtin-tools.js';
import type { RunOptions } from './command-line.js';
import { programTool } from './program-tool.js';

/** A model and its connection. */
export interface Provider {
  readonly chat: ChatOptions;
  readonly tools: readonly AnyTool[];
  readonly credentials: Readonly<Record<string, Credential>>;
  /** Undefined for the platform's own. */
  readonly fetch: typeof fetch | undefined;
}

/** The key's name in the module. */
const KEY = 'key';
/** The address of the simulated provider, as the module sees it. */
const SIMULATED_URL = 'http://simulated/v1';

/** The provider in the options, or the simulated one. */
export function providerOf(options: RunOptions, clock: Clock): Provider {
  const programs = options.tools.map(programTool);
  const { provider, baseURL, model } = options;
  if (provider !== undefined) {
    return endpoint({ provider, baseURL: baseURL!, model: model! }, options.key, programs);
  }
  const taken = new Set(options.tools.map(({ name }) => name));
  return {
    chat: { baseURL: SIMULATED_URL, model: model! },
    tools: [...builtinTools(clock).filter(({ name }) => !taken.has(name)), ...programs],
    credentials: {},
    fetch: wholeResponses(simulatedFetch()),
  };
}

/**
 * A fetch that reads each response to its end: in a turn with a fixed clock nothing may depend on how an answer is cut.
 */
function wholeResponses(from: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await from(input, init);
    return new Response(await response.arrayBuffer(), response);
  };
}

/** A model behind an API. */
interface Endpoint {
  readonly provider: ProviderName;
  readonly baseURL: string;
  readonly model: string;
}

function endpoint(to: Endpoint, key: string | undefined, tools: readonly AnyTool[]): Provider {
  const chat = to as ChatOptions;
  const plain = { chat, tools, credentials: {}, fetch: undefined };
  if (key === undefined) return plain;
  const credential = providerKey(to.provider, key, [new URL(to.baseURL).origin]);
  return { ...plain, chat: { ...chat, credential: KEY }, credentials: { [KEY]: credential } };
}
