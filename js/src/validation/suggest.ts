/**
 * Finds the known name that is likely meant by an unknown one. Go's `internal/suggestion` finds the same.
 */
import { WORDS } from '../abi/rules.gen.js';

/** The most typing errors in a name that is still recognised. */
const MAX_TYPOS = 2;

/** The known name that is likely meant by a word of another library or by a typing error. */
export function suggest(name: string, known: readonly string[]): string | undefined {
  const words = Object.hasOwn(WORDS, name) ? WORDS[name]! : [];
  const word = words.find((meant) => known.includes(meant));
  if (word !== undefined) return word;
  let best: string | undefined;
  let least = Math.min(Math.trunc(name.length / 3), MAX_TYPOS) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= least) continue;
    const n = typos(name.toLowerCase(), candidate.toLowerCase());
    if (n < least) [best, least] = [candidate, n];
  }
  return best;
}

/** How many letters must be changed, inserted, dropped or swapped with the next one to turn a into b. */
export function typos(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let n = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        n = Math.min(n, before[j - 2]! + 1);
      }
      row.push(n);
    }
    [before, last] = [last, row];
  }
  return last[b.length]!;
}
