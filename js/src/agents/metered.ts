/**
 * Agents for platforms that compile nothing at run time.
 */
import { meter } from '../metering/rewrite.js';
import { MANIFEST_SECTION, manifestText } from './manifest.js';

/**
 * The bytes of an agent's file with metering and its manifest, to be deployed where nothing is compiled at run time, as
 * in Workers on Cloudflare.
 *
 * @throws TurncoreError E_INVALID_MODULE, E_AGENT_MANIFEST; MeteringError for a module that cannot be metered
 */
export function meterAgent(file: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const text = manifestText(file);
  const name = new TextEncoder().encode(MANIFEST_SECTION);
  const head = Uint8Array.from([...leb(name.length), ...name]);
  const metered = meter(file);
  const section = [0, ...leb(head.length + text.length)];
  const out = new Uint8Array(metered.length + section.length + head.length + text.length);
  out.set(metered);
  out.set(section, metered.length);
  out.set(head, metered.length + section.length);
  out.set(text, out.length - text.length);
  return out;
}

/** A number in LEB128. */
function leb(n: number): number[] {
  return n < 0x80 ? [n] : [(n & 0x7f) | 0x80, ...leb(n >>> 7)];
}
