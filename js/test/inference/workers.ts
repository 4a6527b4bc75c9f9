/**
 * What crosses between a page and its worker, by the types. Compiling this is the test: what must not compile is marked
 * with @ts-expect-error.
 */
import { parentPort, Worker as NodeWorker } from 'node:worker_threads';

import * as z from 'zod';

import type { Media, Message } from '../../src/index.js';
import { type AgentRunner, type TurnRunner } from '../../src/index.js';
import {
  type Cloneable,
  createWorkerRunner,
  PageTool,
  serveRunner,
} from '../../src/entries/worker.js';

/** Holds when each type is assignable to the other. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
declare function expectSame<A, B>(proof: Same<A, B>): void;
declare function crosses(value: Cloneable): void;
declare const page: Worker;
declare const node: NodeWorker;
declare const port: MessagePort;
declare const shared: SharedWorker;
declare const media: Media;
declare const message: Message;
declare const runner: AgentRunner<{ n: number }>;
declare const plain: TurnRunner;

// Workers of every platform, ports, and functions that make them.
createWorkerRunner(page);
createWorkerRunner(node);
createWorkerRunner(port);
createWorkerRunner(shared.port);
createWorkerRunner(() => new Worker('agent.js', { type: 'module' }));
createWorkerRunner(() => new NodeWorker('agent.js'));
// @ts-expect-error an address is no worker
createWorkerRunner('agent.js');
// @ts-expect-error a shared worker has a port
createWorkerRunner(shared);

serveRunner(runner);
serveRunner(plain, port);
serveRunner(runner, parentPort!);
serveRunner(() => runner);
serveRunner(async (tools) => (tools.length > 0 ? runner : plain));
// @ts-expect-error it makes no runner
serveRunner(() => 5);

// The input of a turn.
const turns = createWorkerRunner<{ n: number }>(page);
export const stream = turns.stream({
  message: 'hello',
  sessionId: 's',
  stash: { day: new Date(), list: [1, 'a', null], bytes: new Uint8Array(1) },
  signal: AbortSignal.timeout(5),
});
expectSame<Awaited<typeof stream.result>['object'], { n: number } | undefined>(true);
// @ts-expect-error a function does not cross
turns.stream({ message: 'hello', stash: { f: () => 1 } });
// @ts-expect-error nor does a record
turns.stream({ message });
// @ts-expect-error a signal stays in the page, a controller has no place
turns.stream({ message: 'hello', turnAbortController: new AbortController() });

// Values.
crosses({ a: [new Map([['k', new Set([1])]]), new Error('x'), new Blob([]), undefined, 5n] });
// @ts-expect-error a symbol does not cross
crosses(Symbol('x'));
// @ts-expect-error a promise does not cross
crosses({ later: Promise.resolve(1) });
// @ts-expect-error a medium has a reader
crosses(media);

// Tools of the page: their schema types the arguments, and what they return crosses.
const texts = { name: 'n', description: 'd' };
const search = new PageTool({
  ...texts,
  inputSchema: z.object({ limit: z.number().default(10), size: z.string().transform(Number) }),
  handler: (args, { signal }) => {
    expectSame<typeof args.limit, number>(true);
    expectSame<typeof args.size, number>(true);
    return { limit: args.limit, aborted: signal.aborted };
  },
});
const look = new PageTool<{ city: string }>({
  ...texts,
  inputSchema: { type: 'object' },
  handler: async ({ city }) => [city],
});
createWorkerRunner(page, { tools: [search, look] });
export const bad = [
  // @ts-expect-error a function does not cross
  new PageTool({ ...texts, inputSchema: { type: 'object' }, handler: () => () => 1 }),
  // @ts-expect-error nor does a medium
  new PageTool({ ...texts, inputSchema: { type: 'object' }, handler: async () => media }),
];
// @ts-expect-error a tool of the worker has its handler there
createWorkerRunner(page, { tools: [{ ...texts, inputSchema: {}, handler: () => 1 }] });
