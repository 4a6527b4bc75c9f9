/**
 * HTTP servers of this process, reached under a name of their own.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { RequestHandler } from '../simulated/provider.js';

/** A server on loopback, and the way to it. */
export interface Loopback {
  /**
   * Sends every request to the server, whatever host its URL names. So nothing that is told about a turn depends on the
   * port that the server happened to get. Responses are read to their end before they are given: a turn whose clock stands
   * still must not depend on how long the network takes either.
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
