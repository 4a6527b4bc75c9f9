/**
 * Objects of another copy of this package.
 */

/** What follows in a violation if its value is an object of a class that this copy of the package does not know. */
export function ofOtherCopy(value: unknown): string {
  const proto: unknown = typeof value === 'object' && value && Object.getPrototypeOf(value);
  const plain = !proto || Object.getPrototypeOf(proto) === null;
  if (plain || Object.prototype.toString.call(value) !== '[object Object]') return '';
  return '; it is a proxy, of another class, or of another copy of turncore: load the package once';
}
