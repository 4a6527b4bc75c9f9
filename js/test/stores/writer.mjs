// Commits to a session of a file, again and again, and prints a line behind each commit, until it is killed.
import { openSqlite, said, turncore } from './setup.mjs';

const [, , path, session] = process.argv;
const store = openSqlite(path, {});
for (let n = 0; ; n++) {
  const thought = new turncore.Thought({ id: `${n}`, content: 'hm', createdAt: n, updatedAt: n });
  const deltas = [said(`${n}`), { op: 'store', kind: 'thought', record: thought }];
  await store.commit(session, { deltas, key: `${n}`, turn: 't' });
  process.stdout.write(`${n}\n`);
}
