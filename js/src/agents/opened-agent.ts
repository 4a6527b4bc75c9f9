/**
 * Opens the file of an agent and checks what can be checked without running it.
 */
import { agentError } from '../agent-errors.js';
import { bytesOf, type ModuleSource, openSource } from '../instance/source.js';
import { isCompiled } from '../instance/tag.js';
import { requireFit } from './asks.js';
import { type Grant, readGrant } from './grant.js';
import { type Manifest, readManifest } from './manifest.js';

/** Bytes of the largest file that is loaded unless the options say otherwise: 32 MiB. */
export const MAX_AGENT_BYTES = 32 << 20;

/** A file that is an agent, as far as one can tell without running it. */
export interface OpenedAgent {
  readonly source: Uint8Array<ArrayBuffer> | WebAssembly.Module;
  readonly manifest: Manifest;
}

/** What opening needs of the options of `loadAgent`. */
interface Bounds {
  readonly grant?: Grant | undefined;
  readonly maxBytes?: number | undefined;
}

/** Opens a file. @throws TurncoreError as `loadAgent` does (rejects) */
export async function openAgent(
  file: ModuleSource,
  { grant, maxBytes = MAX_AGENT_BYTES }: Bounds,
): Promise<OpenedAgent> {
  const given = await openSource(file);
  const source = isCompiled(given) ? given : await bytesOf(given);
  if (source instanceof Uint8Array && source.length > maxBytes) {
    const text = `${source.length} bytes, at most ${maxBytes} are allowed`;
    throw agentError('E_AGENT_TOO_LARGE', text);
  }
  const manifest = readManifest(source);
  if (grant !== undefined) readGrant(JSON.stringify(grant));
  requireFit(manifest, grant);
  return { source, manifest };
}
