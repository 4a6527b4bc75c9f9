// A turn of a conversation in a file, as a program of its own.
import { turncore } from './setup.mjs';

const { sqliteStore } = await import('../../build/src/entries/sqlite.js');
const { simulatedFetch } = await import('../../build/src/entries/simulated.js');

const [, , path, message] = process.argv;
const store = sqliteStore(path);
const runner = turncore.createRunner({
  model: { baseURL: 'http://simulated/v1', model: 'simulated' },
  host: { fetch: simulatedFetch() },
  store,
});
console.log((await runner.stream({ message }).result).text);
await store.close();
