/**
 * Spooling: stores the text of a retrieved document, and replaces it by an artifact.
 */
import { utf8Length } from '../codec/encoder.js';
import { TurncoreError } from '../errors.js';
import { isSpoolReader } from '../primitives/readers.js';
import type { Retrievable } from '../primitives/retrievable.js';
import { SpooledArtifact } from '../primitives/spooled-artifact.js';
import type { BytesFn } from './definition.js';

/**
 * Stores the text of a document and returns a document that reads it from there. Returns a document whose text is not
 * spooled unchanged.
 *
 * @throws TurncoreError (rejects) E_NOT_A_SPOOL_READER when the callback gives no reader; what the callback throws
 */
export async function spoolRetrievable(
  ctx: object,
  write: BytesFn,
  record: Retrievable,
): Promise<Retrievable> {
  const text = record.spooledText;
  if (text === undefined) return record;
  const reader = await write(ctx, record.id, text);
  if (!isSpoolReader(reader)) {
    throw TurncoreError.of(
      'E_NOT_A_SPOOL_READER',
      `what storeRetrievableBytes gave for ${record.id}`,
    );
  }
  const Class = record.artifactConstructor?.() ?? SpooledArtifact;
  return record.withContent(new Class(reader, sizesOf(text)));
}

/** The size hints of a text. */
export function sizesOf(text: string): { byteLength: number; lineCount: number } {
  let lineCount = text === '' ? 0 : 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lineCount++;
  return { byteLength: utf8Length(text), lineCount };
}
