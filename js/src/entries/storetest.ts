/**
 * The tests that every store passes, for whoever writes one: `storeTests` gives them for any test runner.
 *
 * @packageDocumentation
 */
export { type StoreMaker, type StoreTest, storeTests } from '../storetest/suite.js';
