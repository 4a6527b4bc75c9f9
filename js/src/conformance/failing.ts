/**
 * Storage that fails, one call after the other: what is played beside a scenario, and what must come of it.
 */
import { canonicalJSON } from '../codec/canonical-json.js';
import { type Line, type Log, logText } from './line.js';
import { list, only, type Scenario, str, strs } from './scenario.js';

/**
 * What is played beside a scenario of whose log every storage call is to fail once: for each of them the same scenario
 * with the error X thrown there. {@link checkStorage} says what must come of it.
 */
export function failing(scenario: Scenario, log: Log): Scenario[] {
  if (scenario.eachStorageCallFails !== true) return [];
  const calls = log.filter((line) => line['storage'] !== undefined);
  return calls.map((_, i) => {
    return { ...scenario, fails: i + 1, id: `${scenario.id} failing at ${i + 1}` };
  });
}

/**
 * Checks the log of a scenario with a storage call that fails.
 *
 * @throws Error unless what begins ends once, innermost first, the error shows, and at the end the turn holds the
 *   records that storage holds
 */
export function checkStorage(scenario: Scenario, log: Log): void {
  const books = new Books(scenario);
  try {
    for (const line of log) books.read(line);
    books.end();
  } catch (error) {
    throw new Error(`${scenario.id}: ${(error as Error).message}\n${logText(log)}`, {
      cause: error,
    });
  }
}

/** What an event's error says that storage has deleted of a group. */
function deleted(error: unknown): readonly string[] {
  for (let e = error as Line | undefined; e !== undefined; e = e['cause'] as Line | undefined) {
    if (e['deletedIds'] !== undefined) return strs(e['deletedIds']);
  }
  return [];
}

/** Collections by kinds of records. */
const COLLECTIONS: Readonly<Record<string, string>> = {
  standinginstruction: 'instructions',
  memory: 'memories',
  retrievable: 'retrievables',
  message: 'messages',
  thought: 'thoughts',
  toolcall: 'toolcalls',
};
const THE_ERROR = '"is":"X"';

/** What storage and the turn hold, as a log tells. */
class Books {
  readonly #scenario: Scenario;
  /** Ids in storage, by collection. */
  readonly #held = new Map<string, string[]>();
  readonly #open: string[] = [];
  /** Collections of the turn at the end. */
  #seen: Line | undefined;
  #calls = 0;
  #failed = '';
  /** Whether a dispatch was open when the call failed. */
  #inside = false;
  #ends = 0;
  #errors = 0;
  /** That of the last error event. */
  #error = '';
  #shown = false;
  /** Tool calls of a group that was half replaced: gone from storage only. */
  #lost: readonly string[] = [];

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
  }

  read(line: Line): void {
    const name = line['storage'] as string | undefined;
    if (name !== undefined) {
      this.#calls += 1;
      if (this.#calls === this.#scenario.fails) {
        this.#failed = name;
        this.#inside = this.#open.length > 1;
        return;
      }
      this.#apply(name, list(line['args'] ?? []));
      return;
    }
    this.#shown ||= canonicalJSON(line).includes(THE_ERROR);
    if (line['saw'] !== undefined) this.#seen = line['saw'] as Line;
    const event = (line['event'] ?? '') as string;
    if (event.endsWith('Start')) this.#open.push(event.slice(0, -5));
    else if (event.endsWith('End')) this.#close(event.slice(0, -3));
    else if (event === 'turnGateOpen') this.#open.push('gate');
    else if (event === 'turnGateClosed') this.#close('gate');
    if (event === 'turnEnd') this.#ends += 1;
    if (event === 'error') {
      this.#errors += 1;
      this.#error = canonicalJSON(line['error']);
      this.#lost = deleted(line['error']);
    }
  }

  /** Checks what is left when the log has ended. */
  end(): void {
    if (this.#open.length > 0 || this.#ends !== 1) {
      throw new Error(`the turn ended ${this.#ends} times, and ${this.#open.join()} not at all`);
    }
    if (this.#seen === undefined) throw new Error('nobody looked at the turn');
    for (const [kind, ids] of Object.entries(this.#seen)) {
      const seen = strs(ids).sort().join();
      const lost = kind === 'toolCalls' ? this.#lost : [];
      const held = [...this.#of(kind.toLowerCase()), ...lost].sort().join();
      if (seen !== held) throw new Error(`the turn holds the ${kind} ${seen}, storage ${held}`);
    }
    if (this.#scenario.fails === undefined) return;
    if (this.#failed === '' || !this.#shown) throw new Error('the error of storage does not show');
    // What the program makes of a conduit's error is the program's.
    if (this.#inside && this.#failed.endsWith('Bytes')) return;
    const committing = this.#inside ? 'E_STORAGE_COMMIT_ERROR' : '';
    const right = this.#error.includes(THE_ERROR) && this.#error.includes(committing);
    if (this.#errors !== 1 || !right) {
      throw new Error(`the turn ended with ${this.#errors} errors, the last ${this.#error}`);
    }
  }

  #close(what: string): void {
    if (this.#open.pop() !== what) throw new Error(`${what} ends inside of another`);
  }

  #of(collection: string): string[] {
    const held = this.#held.get(collection) ?? [];
    this.#held.set(collection, held);
    return held;
  }

  /** Does what a callback was told. */
  #apply(name: string, args: readonly unknown[]): void {
    if (name.endsWith('Bytes') || name === 'discard') return;
    if (name === 'commit') {
      for (const words of strs(args[0])) this.#delta(words);
    } else if (name === 'replaceToolCallGroup') {
      this.#replace(strs(args[0]), strs(args[1]));
    } else if (name.startsWith('fetch') || name.startsWith('refresh')) {
      const held = this.#of(name.replace(/^fetch|^refreshStanding/, '').toLowerCase());
      for (const step of this.#scenario.runner?.storage?.[name] ?? []) {
        for (const item of list(only(step)[1])) {
          held.push(str(typeof item === 'string' ? item : only(item)[1]));
        }
      }
    } else {
      const [, op, kind] = /^(store|mutate|delete)(.*)$/.exec(name) ?? [];
      if (op === undefined) throw new Error(`storage has no ${name}`);
      this.#write(op, kind!, str(args.at(-1)));
    }
  }

  #delta(words: string): void {
    const [, op, kind, id] = /^(\S+) (\S+) (.*)$/.exec(words)!;
    if (op !== 'replaceToolCallGroup') {
      this.#write(op!, kind!, id!);
      return;
    }
    const [ids, by] = id!.split(' by ');
    this.#replace(ids!.split(' '), by!.split(' '));
  }

  /** Stores or deletes a record; a mutation keeps it. */
  #write(op: string, kind: string, id: string): void {
    const collection = COLLECTIONS[kind.toLowerCase()]!;
    const held = this.#of(collection);
    if (op === 'store') held.push(id);
    if (op === 'delete') {
      this.#held.set(
        collection,
        held.filter((other) => other !== id),
      );
    }
  }

  #replace(ids: readonly string[], by: readonly string[]): void {
    for (const id of ids) this.#write('delete', 'ToolCall', id);
    for (const id of by) this.#write('store', 'ToolCall', id);
  }
}
