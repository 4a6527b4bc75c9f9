/**
 * The classes of Turncore's errors, one for each code, for `instanceof`; and errors as JSON.
 *
 * @packageDocumentation
 */
export type { CodeInfo, CommonCode, ErrorCode } from '../abi/codes.gen.js';
export type { AgentErrorCode } from '../abi/agent-codes.gen.js';
export type { SessionErrorCode } from '../abi/session-codes.gen.js';
export type { HeldErrorCode, StoreErrorCode } from '../abi/store-codes.gen.js';
export type { StoredErrorCode } from '../abi/stored-codes.gen.js';
export type { ErrorClass, ErrorOf, TurncoreErrorOptions } from '../errors.js';
export { errorJSON, type ErrorJSON } from '../events/error-json.js';
export * from '../error-classes.gen.js';
