/**
 * A suite of tests for implementations of `Store`. `storeTests` returns them for any test runner.
 *
 * @packageDocumentation
 */
export type { StoreMaker } from '../storetest/opened.js';
export { type StoreTest, storeTests } from '../storetest/suite.js';
