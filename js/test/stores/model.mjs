// Does at random to a store what one in memory gets too, and compares: results, errors and what is loaded. It runs on
// every platform.

/** The generator mulberry32: each call returns a whole number below a bound. */
function random(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const KINDS =
  'message message thought memory retrievable toolCall toolCall standingInstruction'.split(' ');
const NOON = Date.UTC(2026, 0, 1, 12);
const LISTS = ['instructions', 'memories', 'retrievables', 'messages', 'thoughts', 'toolCalls'];

/**
 * @param turncore the package
 * @param records its entry `turncore/records`
 * @param store is compared with a store in memory
 * @param prefix of the sessions that are written
 * @returns how often what is compared happened
 * @throws Error that tells the first difference
 */
export async function compareWithMemory({
  turncore,
  records,
  store,
  seed,
  rounds,
  prefix = `seed ${seed} `,
}) {
  const { Memory, Message, Retrievable, Thought, Tokenizable, ToolCall, toolCallChecksum } =
    turncore;
  const memory = turncore.memoryStore();
  const r = random(seed);
  const counts = { conflicts: 0, answered: 0, partly: 0 };
  const seen = [];
  let texts = 0;

  const text = () => `text ${++texts}`;
  const record = (kind, id) => {
    const at = NOON + r(100) * 86_400_000;
    const dates = { createdAt: at, updatedAt: at };
    switch (kind) {
      case 'message':
        return new Message({ id, role: 'user', content: text(), ...dates });
      case 'thought':
        return new Thought({ id, content: text(), ...dates });
      case 'memory':
        return new Memory({ id, content: text(), confidence: 0.5, importance: 1, ...dates });
      case 'retrievable':
        return new Retrievable({ id, content: text(), trustTier: 'first-party', ...dates });
      case 'toolCall':
        return call(id);
    }
    return new Tokenizable(id);
  };
  const call = (id) =>
    new ToolCall({
      id,
      tool: 'tool',
      args: {},
      checksum: toolCallChecksum('tool', {}),
      isError: false,
      results: text(),
      isComplete: true,
      createdAt: NOON,
      updatedAt: NOON,
      completedAt: NOON,
    });
  const delta = () => {
    const kind = KINDS[r(KINDS.length)];
    const id = `${kind} ${r(12)}`;
    const op = ['store', 'store', 'mutate', 'delete'][r(4)];
    if (kind === 'toolCall' && r(3) === 0) {
      const ids = Array.from({ length: r(4) }, () => `toolCall ${r(12)}`);
      const group = Array.from({ length: r(4) }, () => call(`toolCall ${r(12)}`));
      return { op: 'replaceToolCallGroup', kind, ids, records: group };
    }
    if (op === 'delete') return { op, kind, id };
    if (kind === 'standingInstruction' && op === 'mutate') {
      return { op, kind, record: record(kind, `${kind} ${r(12)}`), old: id };
    }
    return { op, kind, record: record(kind, id) };
  };
  /** Calls both stores, which must do the same. */
  const both = async (what, inMemory, inStore) => {
    const [a, b] = [await settled(inMemory), await settled(inStore)];
    if (a.error !== b.error) differ(what, a.error, b.error);
    return a.error === undefined ? [a.value, b.value] : undefined;
  };
  const commit = async (session) => {
    const plain = { turn: `turn ${r(5)}`, deltas: Array.from({ length: r(4) }, delta) };
    if (r(2) === 0) plain.key = `key ${r(40)}`;
    const [a, b] = [{ ...plain }, { ...plain }];
    if (r(6) === 0) a.ended = b.ended = [`turn ${r(5)}`];
    else if (seen.length > 0 && r(3) > 0) {
      const at = seen[Math.max(0, seen.length - 1 - r(12))];
      if (at.session === session) {
        [a.revision, b.revision] = [at.memory, at.store];
      }
    }
    const done = await both(
      a,
      () => memory.commit(session, a),
      () => store.commit(session, b),
    );
    if (done === undefined) {
      counts.conflicts++;
      return;
    }
    const [inMemory, inStore] = done;
    for (const at of seen) {
      if (at.session !== session) continue;
      if ((at.memory === inMemory) !== (at.store === inStore)) differ(a, inMemory, inStore);
      if (at.memory === inMemory && plain.deltas.length > 0) counts.answered++;
    }
    seen.push({ session, memory: inMemory, store: inStore });
  };
  const linesOf = (conversation) =>
    LISTS.flatMap((list) =>
      conversation[list].map((each) => `${list} ${JSON.stringify(records.recordToJSON(each))}`),
    );
  const look = async (session) => {
    const after = [{ memory: '', store: '' }];
    const at = seen[Math.max(0, seen.length - 1 - r(6))];
    if (at?.session === session) after.push(at);
    for (const from of after) {
      const a = await memory.load(session, from.memory);
      const b = await store.load(session, from.store);
      if ((a.after ?? '') !== '') counts.partly++;
      same(`${session} after ${from.memory}`, [!a.after, ...linesOf(a)], [!b.after, ...linesOf(b)]);
    }
    same(`newest of ${session}`, await memory.newest(session), await store.newest(session));
    same('list', await names(memory, ''), await names(store, prefix));
  };

  for (let n = 0; n < rounds; n++) {
    const session = prefix + 'abc'[r(3)];
    const of = (name, ...args) =>
      both(
        name,
        () => memory[name](...args),
        () => store[name](...args),
      );
    const what = r(20);
    if (what === 0) await of('delete', session);
    else if (what === 1) await of('fork', session, prefix + 'abcd'[r(4)]);
    else if (what === 2) await of('setTitle', session, `title ${n}`);
    else await commit(session);
    await look(session);
  }
  return counts;
}

async function names(store, prefix) {
  const all = [];
  let cursor;
  do {
    const { sessions, next } = await store.list({ cursor, limit: 2 });
    all.push(...sessions);
    cursor = next;
  } while (cursor !== '');
  const mine = all.filter(({ id }) => id.startsWith(prefix));
  return mine.map(({ id, title, messages }) => `${id} ${title} ${messages}`);
}

async function settled(run) {
  try {
    return { value: await run() };
  } catch (error) {
    return { error: `${error.code} ${error.message}` };
  }
}

function same(what, memory, store) {
  if (JSON.stringify(memory) === JSON.stringify(store)) return;
  if (!Array.isArray(memory)) differ(what, memory, store);
  const first = memory.findIndex((each, i) => each !== store[i]);
  differ(`${what}, ${first} of ${memory.length}`, memory[first], store[first]);
}

function differ(what, memory, store) {
  const [asked, a, b] = [what, memory, store].map((each) => JSON.stringify(each));
  throw new Error(`${asked}: memory says ${a}, the store ${b}`);
}
