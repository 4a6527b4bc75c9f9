/** All codes together, for what reads errors that come from elsewhere. */
import { AGENT_CODES } from './abi/agent-codes.gen.js';
import type { CodeInfo } from './abi/codes.gen.js';
import { SESSION_CODES } from './abi/session-codes.gen.js';
import { codeInfo } from './errors.js';
import { ALL_STORE_CODES } from './stored-errors.js';

const APART: Readonly<Record<string, CodeInfo>> = {
  ...ALL_STORE_CODES,
  ...SESSION_CODES,
  ...AGENT_CODES,
};

/** The description of any code of Turncore's; undefined for a foreign code. */
export function anyCodeInfo(code: string): CodeInfo | undefined {
  return Object.hasOwn(APART, code) ? APART[code] : codeInfo(code);
}
