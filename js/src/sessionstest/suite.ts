/**
 * What sessions must do on every store.
 */
import type { Host } from '../host/host.js';
import { Opened, type StoreMaker } from '../storetest/opened.js';
import type { StoreTest } from '../storetest/suite.js';
import { appends } from './appends.js';
import { artifacts } from './artifacts.js';
import { forks } from './forks.js';
import { lives } from './lives.js';
import { Place, type Run } from './place.js';
import { runs } from './runs.js';
import { states } from './states.js';

/** A kind of store that keeps sessions, as the suite uses it. */
export interface SessionMaker extends StoreMaker {
  /** What runs the full module. Default: a shared host. */
  readonly host?: Host | undefined;
}

/**
 * The tests of sessions on a kind of store: of what a service does with them, and of what becomes of them when the
 * store fails. A store that passes `turncore/storetest` passes them, too; what may differ is what the two expect of
 * each other.
 *
 * @example
 * import { test } from 'node:test';
 * import { sessionTests } from 'turncore/sessionstest';
 * for (const { name, run } of sessionTests({ open: () => new MyStore() })) test(name, run);
 */
export function sessionTests(maker: SessionMaker): StoreTest[] {
  const tests: Record<string, Run> = {
    ...lives,
    ...appends,
    ...states,
    ...artifacts,
    ...forks,
    ...runs,
  };
  return Object.entries(tests).map(([name, test]) => ({
    name,
    run: async () => {
      const opened = new Opened(maker);
      try {
        await test(await Place.open(opened, maker.host));
      } finally {
        await opened.close();
      }
    },
  }));
}
