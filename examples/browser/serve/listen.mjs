// Makes a server listen on loopback, and only there.

const HOST = '127.0.0.1';

/**
 * Resolves when the server listens.
 *
 * @param port 0 for any free one
 * @param orFree whether any free port will do when that one is taken
 */
export async function listen(server, port, { orFree }) {
  try {
    await listenOn(server, port);
  } catch (error) {
    if (error.code !== 'EADDRINUSE') throw error;
    if (!orFree) throw new Error(`port ${port} is taken: give another one`, { cause: error });
    await listenOn(server, 0);
  }
}

function listenOn(server, port) {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, HOST, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
