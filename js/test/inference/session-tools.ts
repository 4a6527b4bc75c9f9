/**
 * The types of agents' tools. Compiling this is the test: what must not compile is marked with @ts-expect-error.
 */
import * as z from 'zod';

import { Tool } from '../../src/index.js';
import {
  AgentTool,
  type CallbackContext,
  createTool,
  LlmAgent,
  type LlmAgentConfig,
  type LlmAgentTool,
  type SessionTool,
  type ToolContext,
} from '../../src/entries/sessions.js';

/** Holds when each type is assignable to the other. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
declare function expectSame<A, B>(proof: Same<A, B>): void;
declare function log(value: unknown): void;

interface Place {
  city: string;
}
const texts = { name: 'n', description: 'd' };
const named = { name: 'a', model: () => 'x' };
const schema = z.object({ city: z.string(), days: z.number().default(1) });

// A tool as a constant: Zod's schema types the arguments, and both functions get a context with the state.
export const zod = createTool({
  ...texts,
  inputSchema: schema,
  requireConfirmation: ({ city }, ctx) => {
    expectSame<typeof ctx, CallbackContext>(true);
    return ctx.state['city'] === city;
  },
  runAsync: ({ city, days }, ctx) => {
    expectSame<typeof city, string>(true);
    expectSame<typeof days, number>(true);
    expectSame<typeof ctx, ToolContext>(true);
    ctx.state['city'] = city;
    return { sky: 'clear', days };
  },
});

// So does a JSON Schema.
export const json = createTool({
  ...texts,
  inputSchema: {
    type: 'object',
    properties: {
      city: { type: 'string' },
      days: { type: 'integer' },
      at: { type: 'object', properties: { hour: { type: 'number' } }, required: ['hour'] },
      kinds: { type: 'array', items: { enum: ['sun', 'rain'] } },
      other: {},
    },
    required: ['city'],
  },
  requireConfirmation: ({ city }, ctx) => ctx.state['city'] === city,
  async runAsync({ city, days, at, kinds }, ctx) {
    expectSame<typeof city, string>(true);
    expectSame<typeof days, number | undefined>(true);
    expectSame<typeof at, { hour: number } | undefined>(true);
    expectSame<typeof kinds, ('sun' | 'rain')[] | undefined>(true);
    ctx.state['city'] = city;
    return Promise.resolve({ sky: 'clear', days, at, kinds });
  },
});

// Where no schema tells, the function does, or nobody.
export const own = createTool({ ...texts, runAsync: ({ city }: Place, ctx) => ctx.state[city] });
export const open = createTool({
  ...texts,
  inputSchema: { type: 'object' },
  runAsync: (params, ctx) => {
    ctx.state['city'] = params['city'];
  },
});

export const wrong = createTool({
  ...texts,
  inputSchema: schema,
  // @ts-expect-error -- a function takes what its schema gives
  runAsync: (params: { city: number }) => params.city,
});
export const missing = createTool({
  ...texts,
  inputSchema: schema,
  // @ts-expect-error -- there is no such argument
  runAsync: ({ town }) => town as string,
});

// An object that nothing was said of.
const plain = {
  name: 'plain',
  description: 'd',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
  runAsync: ({ city }: Place, ctx: ToolContext) => {
    ctx.state['city'] = city;
  },
};

// A type of its own.
const typed: SessionTool<Place> = {
  ...texts,
  inputSchema: schema,
  requireConfirmation: ({ city }, ctx) => ctx.state['city'] === city,
  runAsync: ({ city }, ctx) => ctx.state[city],
};

// In place.
export const agent: LlmAgent = new LlmAgent({
  ...named,
  instruction: (ctx) => String(ctx.state['city']),
  tools: [
    {
      ...texts,
      inputSchema: schema,
      requireConfirmation: (params, ctx) => ctx.state['city'] === params.city,
      runAsync: async ({ city }, ctx) => {
        expectSame<typeof city, string>(true);
        ctx.state['city'] = city;
        return Promise.resolve(city.toUpperCase());
      },
    },
    {
      ...texts,
      inputSchema: {
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
      },
      runAsync({ city }, ctx) {
        expectSame<typeof city, string>(true);
        return ctx.functionCallId + city;
      },
    },
    { ...texts, inputSchema: schema, runAsync: (place: Place, ctx) => ctx.state[place.city] },
    { ...texts, runAsync: (place: Place, ctx) => ctx.state[place.city] },
    { ...texts, runAsync: (params, ctx) => ctx.state[String(params['city'])] },
    { ...texts, isLongRunning: true, runAsync: () => undefined },
    plain,
    typed,
    zod,
    json,
    own,
    new Tool({ ...texts, inputSchema: schema, handler: ({ city }) => city }),
    new AgentTool({ agent: new LlmAgent(named) }),
  ],
});

export const refused = new LlmAgent({
  ...named,
  tools: [
    {
      ...texts,
      inputSchema: schema,
      // @ts-expect-error -- a function takes what its schema gives
      runAsync: (params: { city: number }) => params.city,
    },
  ],
});

// Lists and configurations that are made elsewhere.
declare const list: LlmAgentTool[];
declare const config: LlmAgentConfig;
export const agents: LlmAgent[] = [
  agent,
  new LlmAgent({ ...named, tools: list }),
  new LlmAgent({ ...named, tools: [...list, zod] }),
  new LlmAgent(config),
  new (class extends LlmAgent {
    constructor() {
      super({ ...named, tools: [plain, typed] });
    }
  })(),
];
log(agents);
