/**
 * The order of names.
 */

/** Compares two by their names, in the order of their UTF-8 bytes. */
export function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return compareNames(a.name, b.name);
}

/** Compares two names, in the order of their UTF-8 bytes. */
export function compareNames(x: string, y: string): number {
  for (let i = 0; i < x.length && i < y.length;) {
    const [p, q] = [x.codePointAt(i)!, y.codePointAt(i)!];
    if (p !== q) return p - q;
    i += p > 0xffff ? 2 : 1;
  }
  return x.length - y.length;
}
