/**
 * What records may hold in the place of a text: artifacts and media.
 */
import {
  Media,
  type MediaParts,
  type RawMedia,
  SpooledArtifact,
  SpooledJsonArtifact,
  SpooledMarkdownArtifact,
  Tokenizable,
} from '../index.js';
import { fields, list, Malformed, str } from './scenario.js';
import { reader } from './reader.js';

/** Makes a part: a text, `{artifact: text, kind?, hints?}`, `{media: …}`, or a list of either of the last two. */
export function part(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as unknown[]).map(part);
  if ('media' in value) return newMedia(fields(value, 'media')['media']);
  return artifact(value);
}

function artifact(value: object): SpooledArtifact {
  const given = fields(value, 'artifact', 'kind', 'hints');
  const hints = given['hints'] === undefined ? undefined : (list(given['hints']) as number[]);
  const sizes = hints === undefined ? undefined : { byteLength: hints[0]!, lineCount: hints[1]! };
  const source = reader(str(given['artifact']));
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
export function newMedia(value: unknown): Media {
  const known = ['id', 'kind', 'mimeType', 'filename', 'trustTier', 'modalityHazard'];
  const { factory, bytes, ...given } = fields(value, 'factory', 'bytes', ...known);
  const common = {
    kind: 'image',
    mimeType: 'image/png',
    filename: 'a.png',
    reader: reader(str(bytes, 'bytes')),
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

/** Calls a method of an artifact. */
export function readArtifact(arg: unknown): Promise<unknown> {
  const { of, call, args } = fields(arg, 'of', 'call', 'args');
  const target = part(of) as SpooledArtifact;
  const given = args === undefined ? [] : [...list(args)];
  switch (str(call)) {
    case 'head':
      return target.head(...(given as [number]));
    case 'tail':
      return target.tail(...(given as [number]));
    case 'cat':
      return target.cat(...(given as [number, number]));
    case 'grep':
      return target.grep(new RegExp(str(given[0]), 'u'));
    case 'asString':
      return target.asString();
    case 'byteLength':
      return target.byteLength();
    case 'lineCount':
      return target.lineCount();
    case 'estimateTokens':
      return target.estimateTokens(str(given[0]));
    default:
      throw new Malformed(`an artifact has no method ${str(call)}`);
  }
}
