/**
 * HTTP servers of this process under names of their own.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { RequestHandler } from '../simulated/provider.js';

/** A server on loopback, and the way to it. */
export interface Loopback {
  /**
   * Sends every request to the server, whatever host its URL names, so that no output depends on the server's port.
   * Each response is read to its end first: a turn with a fixed clock must not depend on the network's speed either.
   */
  readonly fetch: typeof fetch;
  readonly close: () => void;
}

/** Starts a server on a free port of the loopback interface. */
export async function serveLoopback(handler: RequestHandler): Promise<Loopback> {
  const server = createServer(handler);
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    server.listen(0, '127.0.0.1', listening);
  });
  const { port } = server.address() as AddressInfo;
  return {
    fetch: async (input, init) => {
      const { pathname, search } = new URL(input instanceof Request ? input.url : input);
      const response = await fetch(`http://127.0.0.1:${port}${pathname}${search}`, init);
      return new Response(await response.arrayBuffer(), response);
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
