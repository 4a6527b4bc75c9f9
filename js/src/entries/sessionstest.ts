/**
 * A suite of tests of sessions on implementations of `Store`. `sessionTests` returns them for any test runner.
 *
 * @packageDocumentation
 */
export { type SessionMaker, sessionTests } from '../sessionstest/suite.js';
export type { StoreMaker } from '../storetest/opened.js';
export type { StoreTest } from '../storetest/suite.js';
