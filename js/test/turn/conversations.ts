/**
 * Conversations with each provider of models, and a server that plays the provider.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { ProviderName } from '../../src/entries/models.js';
import { root } from '../instance/go-guest.js';

export interface Reply {
  readonly type: string;
  readonly body: string;
}

export interface Case {
  readonly name: string;
  readonly provider: ProviderName;
  readonly model: string;
  readonly base: string;
  readonly path: string;
  /** Header, and what stands before the key in it. */
  readonly key: readonly [string, string];
  readonly options: Readonly<Record<string, unknown>>;
  readonly replies: readonly Reply[];
  readonly requests: readonly unknown[];
  readonly expect: {
    readonly text: string;
    readonly thoughts: readonly string[];
    readonly toolCalls: readonly {
      readonly id: string;
      readonly tool: string;
      readonly args: unknown;
      readonly results: string;
    }[];
    readonly usage: Readonly<Record<string, number>>;
  };
}

interface Conversations {
  readonly system: string;
  readonly message: string;
  readonly key: string;
  readonly tool: { name: string; description: string; inputSchema: { type: 'object' } };
  readonly cases: readonly Case[];
}

const file = new URL('runtime/testdata/providers/conversations.json', root);
export const { cases, ...common } = JSON.parse(await readFile(file, 'utf8')) as Conversations;

export interface Request {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** Serves replies in order, and keeps what was asked. */
export async function serve(
  replies: readonly Reply[],
  run: (url: string, requests: readonly Request[]) => Promise<void>,
): Promise<void> {
  const requests: Request[] = [];
  const server = createServer((req, res) => {
    let text = '';
    req.setEncoding('utf8').on('data', (part: string) => (text += part));
    req.on('end', () => {
      const reply = replies[requests.length];
      requests.push({ url: req.url, headers: req.headers, body: JSON.parse(text) });
      res.writeHead(reply === undefined ? 500 : 200, { 'content-type': reply?.type ?? '' });
      res.end(reply?.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
