/**
 * Methods that need their object.
 */
import { invalidValue } from '../errors.js';

type Method = (...args: unknown[]) => unknown;

/**
 * Makes the methods of a class fail clearly when called without their object: `const { ack } = ctx; ack()`.
 *
 * @param name the name of its objects in samples
 */
export function requireOwner(prototype: object, name: string): void {
  for (const [key, property] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    const method = property.value as Method | undefined;
    if (typeof method !== 'function' || key === 'constructor') continue;
    const guarded = function (this: unknown, ...args: unknown[]): unknown {
      if (this !== undefined) return method.apply(this, args);
      throw invalidValue(key, `was taken off its object: call it as ${name}.${key}(…)`);
    };
    const { length } = method;
    Object.defineProperties(guarded, { name: { value: key }, length: { value: length } });
    Object.defineProperty(prototype, key, { ...property, value: guarded });
  }
}
