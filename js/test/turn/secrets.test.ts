/**
 * A credential is nowhere but in the requests it is for: not in the module's memory, whose garbage stays there, not in
 * events, journals or errors; also when the provider quotes it. The environment of the process is nowhere at all.
 */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';

import { createRunner } from '../../src/index.js';
import { MemoryJournal } from '../../src/entries/replay.js';
import { hear, skip, testHost } from './harness.js';

const KEY = 'sk-planted-0123456789';
const OF_PROCESS = 'sk-of-the-process-0123456789';
const MARKER = 'a marker that the module is told';

/** How a provider may treat a key. */
const answers: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  'an error that quotes it': (request, response) => {
    response.writeHead(401, { 'x-echo': request.headers.authorization });
    response.end(JSON.stringify({ error: { message: `Incorrect API key provided: ${KEY}.` } }));
  },
  'an answer that quotes it, in pieces': (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const delta = { content: `Your key is ${KEY}, you said: ${MARKER}` };
    const event = `data: ${JSON.stringify({ choices: [{ delta, finish_reason: 'stop' }] })}\n\n`;
    for (const part of event.split(/(?<=0)/)) response.write(part);
    response.end('data: [DONE]\n\n');
  },
  'a redirect to another origin': (request, response) => {
    const { port } = request.socket.address() as AddressInfo;
    if (request.headers.host!.startsWith('localhost')) {
      assert.equal(request.headers.authorization, undefined);
      response.writeHead(403).end(KEY);
      return;
    }
    response.writeHead(307, { location: `http://localhost:${port}/?key=${KEY}` }).end();
  },
  'redirects without end': (_request, response) => {
    response.writeHead(307, { location: `/again?key=${KEY}` }).end();
  },
  'a connection that breaks': (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${KEY}`, () => response.destroy());
  },
};

/** The memories of the modules that are started while something runs. */
async function memoriesOf(run: () => Promise<void>): Promise<Buffer[]> {
  const memories: WebAssembly.Memory[] = [];
  const { Instance } = WebAssembly;
  WebAssembly.Instance = class extends Instance {
    constructor(module: WebAssembly.Module, imports?: WebAssembly.Imports) {
      super(module, imports);
      memories.push(this.exports['memory'] as WebAssembly.Memory);
    }
  };
  try {
    await run();
  } finally {
    WebAssembly.Instance = Instance;
  }
  return memories.map(({ buffer }) => Buffer.from(buffer));
}

describe('a credential stays on the host', { skip }, () => {
  before(() => void (process.env['OPENAI_API_KEY'] = OF_PROCESS));
  after(() => delete process.env['OPENAI_API_KEY']);
  for (const [name, answer] of Object.entries(answers)) {
    it(name, async () => {
      const sent: (string | undefined)[] = [];
      const server = createServer((request, response) => {
        sent.push(request.headers.authorization);
        answer(request, response);
      });
      await new Promise<void>((ready) => server.listen(0, ready));
      const { port } = server.address() as AddressInfo;
      const journal = new MemoryJournal();
      const told: string[] = [];
      try {
        const memories = await memoriesOf(async () => {
          const runner = createRunner({
            model: { baseURL: `http://127.0.0.1:${port}/v1`, model: 'm', apiKey: KEY },
            host: await testHost({ journal: () => journal }),
          });
          const stream = runner.stream({ message: MARKER });
          await hear(stream, (event) => told.push(JSON.stringify(event)));
          const { text, error } = await stream.result;
          assert.equal(error === undefined, name.startsWith('an answer'), String(error));
          told.push(text);
          for (let e = error; e instanceof Error; e = e.cause) {
            told.push(`${e.message} ${e.stack ?? ''} ${JSON.stringify(e)}`);
          }
        });
        assert.equal(sent[0], `Bearer ${KEY}`);
        assert.equal(memories.length, 1);
        const kept = Buffer.from(journal.bytes());
        for (const place of [memories[0]!, kept, Buffer.from(told.join('\n'))]) {
          assert.ok(!place.includes(OF_PROCESS), 'the environment is there');
        }
        assert.ok(!memories[0]!.includes(KEY), 'the key is in the memory');
        assert.ok(!kept.includes(KEY), 'the key is in the journal');
        assert.ok(!told.join('\n').includes(KEY), 'the key is in the events');
        // What the module was told is found: the search is good for something.
        assert.ok(memories[0]!.includes(MARKER) && kept.includes(MARKER));
      } finally {
        server.closeAllConnections();
        server.close();
      }
    });
  }
});
