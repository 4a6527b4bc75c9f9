/**
 * What the machine gives a host: modules and how they start, clocks, randomness, limits, quotas and secrets.
 *
 * @packageDocumentation
 */
export type { Credential } from '../http/credential.js';
export {
  type Clock,
  type Entropy,
  FIXED_INSTANT,
  fixedClock,
  seededEntropy,
  systemClock,
  systemEntropy,
} from '../entropy.js';
export type { GoLoader, GoRuntime } from '../instance/gojs.js';
export { Module } from '../instance/module.js';
export type { InstantiateOptions, ModuleOptions } from '../instance/module-options.js';
export type { ModuleSource } from '../instance/source.js';
export type { Limits, Quota } from '../instance/limits.js';
