/**
 * Pages and their workers: the remedies, which take more bytes than all other texts of errors, arrive with what runs
 * turns, or after an error that comes before.
 */
import type { ErrorCode } from '../abi/codes.gen.js';

let remedies: Readonly<Record<ErrorCode, string>> | undefined;

/**
 * The remedy for a code.
 *
 * @param tell gets it later where this returns undefined, unless it cannot be loaded
 */
export function remedyFor(code: string, tell: (remedy: string) => void): string | undefined {
  if (remedies === undefined) {
    void loadRemedies().then(() => {
      const remedy = known(code);
      if (remedy !== undefined) tell(remedy);
    });
  }
  return known(code);
}

function known(code: string): string | undefined {
  return remedies && Object.hasOwn(remedies, code) ? remedies[code as ErrorCode] : undefined;
}

/** Loads the remedies. Never rejects: an error without its remedy is better than a second error. */
export async function loadRemedies(): Promise<void> {
  try {
    remedies = (await import('../abi/remedies.gen.js')).REMEDIES;
  } catch {
    // The next error tries again.
  }
}
