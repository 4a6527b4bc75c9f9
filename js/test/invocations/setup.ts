/**
 * What the tests of sessions share: the full module, agents that yield listed events, models that give listed answers,
 * and stores that fail.
 */
import { Host } from '../../src/index.js';
import { fixedClock, seededEntropy } from '../../src/entries/host.js';
import { type FullMemoryStore, fullMemoryStore } from '../../src/entries/memory.js';
import {
  BaseAgent,
  type Content,
  type Event,
  type EventData,
  type InvocationContext,
  LlmAgent,
  type LlmAgentConfig,
  type ModelFunction,
  type AgentRequest,
  type AgentResponse,
  Runner,
  type RunnerConfig,
  type Session,
  SessionService,
  type State,
} from '../../src/entries/sessions.js';
import { fullModule } from '../turn/harness.js';

/** A host of its own, with the full module. */
export async function sessionHost(seed = 1): Promise<Host> {
  const module = await fullModule();
  return new Host({ module, clock: fixedClock(), entropy: seededEntropy(seed) });
}

const shared = await sessionHost();

/** Where the session of a test is. */
export const KEY = { appName: 'app', userId: 'u', sessionId: 's' };
/** Whose invocation it is. */
export const WHO = { userId: 'u', sessionId: 's' };

/** A service with a session, and a runner. */
export interface Stage {
  readonly service: SessionService;
  readonly store: FullMemoryStore;
  readonly runner: Runner;
  /** The session as it is stored. */
  readonly load: () => Promise<Session>;
  /** Answers a message. */
  readonly say: (message?: string) => Promise<Event[]>;
}

/** Makes a session and a runner. */
export async function stage(
  config: Omit<RunnerConfig, 'appName'>,
  state: State = {},
  store: FullMemoryStore = fullMemoryStore(),
): Promise<Stage> {
  const service = new SessionService({ store, host: shared });
  const runner = new Runner({ appName: 'app', sessionService: service, ...config });
  await service.createSession({ ...KEY, state });
  return {
    service,
    store,
    runner,
    load: async () => (await service.getSession(KEY))!,
    say: (newMessage = 'hello') => runner.run({ ...WHO, newMessage }),
  };
}

/** A custom agent that is a generator. */
export class Script extends BaseAgent {
  readonly #run: (
    ctx: InvocationContext,
    agent: BaseAgent,
  ) => AsyncGenerator<EventData, void, Event>;

  constructor(
    name: string,
    run: (ctx: InvocationContext, agent: BaseAgent) => AsyncGenerator<EventData, void, Event>,
    subAgents: BaseAgent[] = [],
  ) {
    super({ name, subAgents });
    this.#run = run;
  }

  override runAsyncImpl(ctx: InvocationContext): AsyncGenerator<EventData, void, Event> {
    return this.#run(ctx, this);
  }
}

/** A model that gives answers one after another, and keeps the requests. */
export function answers(
  ...list: readonly (AgentResponse | string | readonly (AgentResponse | string)[])[]
): ModelFunction & { readonly requests: string[] } {
  const requests: string[] = [];
  let next = 0;
  const model = async function* (
    request: AgentRequest,
  ): AsyncGenerator<AgentResponse | string, void, undefined> {
    requests.push(transcript(request));
    const given = list[next++];
    if (given === undefined) throw new Error('the model has no answer left');
    if (typeof given === 'string' || !Array.isArray(given)) yield given as AgentResponse | string;
    else yield* given as readonly (AgentResponse | string)[];
  };
  return Object.assign(model, { requests });
}

/** An agent whose model gives answers one after another. */
export function llm(
  name: string,
  model: ModelFunction,
  more: Partial<LlmAgentConfig> = {},
): LlmAgent {
  return new LlmAgent({ name, model, ...more });
}

/** An answer that calls functions. */
export function calls(...names: readonly string[]): AgentResponse {
  const parts = names.map((name) => ({ functionCall: { name, args: {} } }));
  return { content: { role: 'model', parts } };
}

/** A part of a stream. */
export function partial(text: string): AgentResponse {
  return { content: { role: 'model', parts: [{ text }] }, partial: true };
}

/** What a model is asked, as a short text. */
export function transcript({ contents }: AgentRequest): string {
  return contents.map((content) => `${content.role ?? ''}: ${said(content)}`).join(' | ');
}

function said({ parts = [] }: Content): string {
  return parts
    .map((part) => {
      const { text, functionCall, functionResponse } = part as {
        text?: string;
        functionCall?: { name: string };
        functionResponse?: { name: string; response: unknown };
      };
      if (functionCall !== undefined) return `${functionCall.name}()`;
      if (functionResponse !== undefined) {
        return `${functionResponse.name} = ${JSON.stringify(functionResponse.response)}`;
      }
      return text ?? JSON.stringify(part);
    })
    .join(' ');
}

/** Events as short texts: author, content and actions. */
export function lines(events: readonly EventData[]): string[] {
  return events.map((event) => {
    const { author = '', content, partial: part, actions } = event;
    const delta = actions?.stateDelta ?? {};
    const changes = Object.keys(delta).length === 0 ? '' : ` ${JSON.stringify(delta)}`;
    return `${author}${part === true ? '~' : ''}: ${said(content ?? {})}${changes}`;
  });
}

/** An event with a text. */
export function text(words: string, more: EventData = {}): EventData {
  return { content: { parts: [{ text: words }] }, ...more };
}

/**
 * A store in which one append fails.
 *
 * @param which counts those behind the one that creates the session, from 1
 * @param before is called ahead of it, in place of the failure
 */
export function failingStore(
  which: number,
  before = (): Promise<void> => {
    throw new Error(`append ${which} fails`);
  },
): FullMemoryStore {
  const store = fullMemoryStore();
  let appends = -1;
  const append: FullMemoryStore['append'] = (session, given) => {
    if (++appends === which) return before().then(() => store.append(session, given));
    return store.append(session, given);
  };
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'append') return append;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value as () => unknown).bind(target) : value;
    },
  });
}
