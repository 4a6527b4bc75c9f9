/**
 * A worker that loads an example agent.
 */
import { workerData } from 'node:worker_threads';

import { Tool } from 'turncore';
import { serveAgent } from 'turncore/agents';

import { answersOf, hostOf } from './play.mjs';

const { play } = workerData ?? {};
const tool = (name, handler) =>
  new Tool({ name, description: 'Runs here.', inputSchema: { type: 'object' }, handler });
const tools = [
  tool('of_the_worker', () => 'from the worker'),
  tool('spins', () => {
    for (;;);
  }),
];
serveAgent({ tools, ...(play && hostOf(play, answersOf(play))) });
