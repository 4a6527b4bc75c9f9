/**
 * What records may hold in the place of a text: artifacts and media.
 */
import {
  Media,
  SpooledArtifact,
  SpooledJsonArtifact,
  SpooledMarkdownArtifact,
  Tokenizable,
} from '../index.js';
import { type MediaParts, type RawMedia } from '../entries/records.js';
import { type MediaReader, type SpoolReader } from '../entries/stores.js';
import { fields, list, type Script, str } from './scenario.js';
import { reader, scriptedReader } from './reader.js';
import type { Stage } from './stage.js';

/**
 * Makes a part: a text, `{text: name}`, `{artifact: text, kind?, hints?, reader?}`, `{media: …}`, or a list of either
 * of the last two.
 */
export function part(stage: Stage, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as unknown[]).map((item) => part(stage, item));
  if ('media' in value) return newMedia(stage, fields(value, 'media')['media']);
  if ('text' in value) return stage.text(str(fields(value, 'text')['text']));
  return artifact(stage, value);
}

/** A reader of a text, with scripts of its methods if there are any. */
function readerOf(stage: Stage, text: string, scripts: unknown): SpoolReader & MediaReader {
  if (scripts === undefined) return reader(text);
  const call = (by: string, script: Script): unknown => stage.call(by, undefined, script);
  return scriptedReader(text, scripts as Record<string, Script>, call);
}

/** Makes the artifact that `{artifact: text, kind?, hints?, reader?}` describes; one of null has no reader. */
export function artifact(stage: Stage, value: unknown): SpooledArtifact {
  const given = fields(value, 'artifact', 'kind', 'hints', 'reader');
  const hints = given['hints'] === undefined ? undefined : (list(given['hints']) as number[]);
  const sizes = hints === undefined ? undefined : { byteLength: hints[0]!, lineCount: hints[1]! };
  if (given['artifact'] === null) return new SpooledArtifact(null as never);
  const source = readerOf(stage, str(given['artifact']), given['reader']);
  switch (given['kind']) {
    case 'json':
      return new SpooledJsonArtifact(source, sizes);
    case 'markdown':
      return new SpooledMarkdownArtifact(source, sizes);
    default:
      return new SpooledArtifact(source, sizes);
  }
}

const factories = {
  userAttachment: (parts: MediaParts) => Media.userAttachment(parts),
  toolGenerated: (parts: MediaParts) => Media.toolGenerated(parts),
  retrievedPublic: (parts: MediaParts) => Media.retrievedPublic(parts),
  retrievedPrivate: (parts: MediaParts) => Media.retrievedPrivate(parts),
};

/** Makes a medium from its fields, or by a factory. */
export function newMedia(stage: Stage, value: unknown): Media {
  const known = ['id', 'kind', 'mimeType', 'filename', 'trustTier', 'modalityHazard'];
  const {
    factory,
    bytes,
    reader: scripts,
    ...given
  } = fields(value, 'factory', 'bytes', 'reader', ...known);
  const common = {
    kind: 'image',
    mimeType: 'image/png',
    filename: 'a.png',
    reader: readerOf(stage, str(bytes, 'bytes'), scripts),
    ...given,
  };
  if (factory !== undefined) {
    const make = factories[str(factory) as keyof typeof factories];
    return make(common as unknown as MediaParts);
  }
  return new Media({
    id: 'media',
    trustTier: 'first-party',
    modalityHazard: 'inert',
    ...common,
  } as unknown as RawMedia);
}

/**
 * A content or results as a log has them: a text, `[CLASS BYTES LINES]` for an artifact with size hints, `[KIND
 * FILENAME]` for a medium.
 */
export function shown(value: unknown): string {
  if (value instanceof Tokenizable) return String(value);
  if (Array.isArray(value)) return (value as unknown[]).map(shown).join(' ');
  if (value instanceof Media) return `[${value.kind} ${value.filename}]`;
  if (value instanceof SpooledArtifact) {
    return `[${Object.values(value.toJSON()).join(' ')}]`;
  }
  return typeof value === 'string' ? value : '';
}
