/**
 * Checks the options of `loadAgent`.
 */
import type { TypeRules } from '../abi/rules.gen.js';
import { isAbsent, isObject } from '../validation/field-kinds.js';
import { check } from '../validation/rules.js';

const common: TypeRules['fields'] = {
  grant: { kind: 'any' },
  tools: { kind: 'list', item: { kind: 'any' } },
  store: { kind: 'string' },
  model: { kind: 'function' },
  secret: { kind: 'function' },
  options: { kind: 'any' },
  fuel: { kind: 'object' },
  maxBytes: { kind: 'any' },
};

const here: TypeRules = {
  title: 'agent',
  code: 'E_INVALID_VALUE',
  fields: { ...common, stores: { kind: 'object' }, host: { kind: 'object' } },
};

const inWorker: TypeRules = {
  ...here,
  fields: { ...common, worker: { kind: 'function' }, stepTimeout: { kind: 'any' } },
};

/** @throws TurncoreError E_INVALID_VALUE listing every option that is unknown or wrong */
export function requireOptions(options: unknown): void {
  const isInWorker = isObject(options) && !isAbsent(options['worker']);
  check(isInWorker ? inWorker : here, options, {
    also: ({ maxBytes: most }) =>
      isAbsent(most) || (typeof most === 'number' && most >= 0)
        ? []
        : ['`maxBytes` must be a number of bytes'],
  });
}
