/**
 * Pages and their workers: the remedies, which take more bytes than all other texts of errors, arrive after the first
 * error.
 */
import type { ErrorCode } from '../abi/codes.gen.js';

let remedies: Readonly<Record<ErrorCode, string>> | undefined;

/**
 * The remedy for a code.
 *
 * @param tell gets it later where this returns undefined, unless it cannot be loaded
 */
export function remedyFor(code: ErrorCode, tell: (remedy: string) => void): string | undefined {
  if (remedies === undefined) void load().then((all) => tell(all[code]), nothing);
  return remedies?.[code];
}

async function load(): Promise<Readonly<Record<ErrorCode, string>>> {
  const { REMEDIES } = await import('../abi/remedies.gen.js');
  return (remedies = REMEDIES);
}

function nothing(): void {
  // An error without its remedy is better than a second error.
}
