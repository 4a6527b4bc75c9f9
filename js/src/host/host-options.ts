/**
 * Checks the options of a host.
 */
import type { TypeRules } from '../abi/rules.gen.js';
import { originViolations } from '../http/origins.js';
import { DEFAULT_INSTANCE_LIMITS, DEFAULT_QUOTA } from '../instance/limits.js';
import { isAbsent, isObject } from '../validation/field-kinds.js';
import { check, type Checked, phrase, unknownField, violationsIn } from '../validation/rules.js';

const rules: TypeRules = {
  title: 'host',
  code: 'E_INVALID_VALUE',
  fields: {
    module: { kind: 'any' },
    clock: { kind: 'function' },
    entropy: { kind: 'function' },
    limits: { kind: 'object' },
    journal: { kind: 'function' },
    credentials: { kind: 'object' },
    allowedOrigins: { kind: 'list' },
    fetch: { kind: 'function' },
    maxMemory: { kind: 'any' },
    highWater: { kind: 'any' },
    quota: { kind: 'object' },
    onStderr: { kind: 'function' },
    verify: { kind: 'boolean' },
  },
};

const credentialRules: TypeRules = {
  title: 'credential',
  code: 'E_INVALID_VALUE',
  fields: {
    header: { kind: 'string', required: true, nonEmpty: true },
    value: { kind: 'any', required: true },
    origins: { kind: 'list', required: true },
  },
};

/**
 * Checks the options of a host. Null fields are omitted.
 *
 * @throws TurncoreError E_INVALID_VALUE listing every violation
 */
export function checkHost(options: unknown): Checked {
  return check(rules, options, {
    also: (raw) => [
      ...boundViolations('limits', raw['limits'], DEFAULT_INSTANCE_LIMITS),
      ...boundViolations('quota', raw['quota'], DEFAULT_QUOTA),
      ...credentialViolations(raw['credentials']),
      ...originViolations('allowedOrigins', raw['allowedOrigins']),
      ...['maxMemory', 'highWater'].flatMap((name) => byteViolations(name, raw[name])),
    ],
  });
}

/** Infinity is not a bound. */
function byteViolations(field: string, bytes: unknown): string[] {
  const right = isAbsent(bytes) || (typeof bytes === 'number' && bytes >= 0);
  return right ? [] : [`\`${field}\` must be a number of bytes`];
}

function boundViolations(option: string, bounds: unknown, known: object): string[] {
  if (!isObject(bounds)) return [];
  return Object.entries(bounds).flatMap(([name, limit]) => {
    const field = `${option}.${name}`;
    if (!Object.hasOwn(known, name)) {
      return [unknownField(`${option}.`, name, Object.keys(known))];
    }
    const right = limit === undefined || (Number.isSafeInteger(limit) && (limit as number) > 0);
    return right ? [] : [`\`${field}\` must be a whole number from 1 on`];
  });
}

function credentialViolations(credentials: unknown): string[] {
  if (!isObject(credentials)) return [];
  return Object.entries(credentials).flatMap(([name, credential]) => {
    const field = `credentials.${name}`;
    if (!isObject(credential)) return [phrase('object', { field })];
    return violationsIn(field, () => check(credentialRules, credential, { also: secret }));
  });
}

function secret({ value, origins }: Checked): string[] {
  const right = isAbsent(value) || typeof value === 'string' || typeof value === 'function';
  return [
    ...originViolations('origins', origins),
    ...(right ? [] : ['`value` must be a string or a function']),
  ];
}
