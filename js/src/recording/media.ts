/**
 * Parts of messages that are no text: images, sounds, videos and documents.
 */
import type { MediaKind } from '../primitives/media.js';
import { isObject, sortedJSON } from '../simulated/text.js';

type Fields = Record<string, unknown>;

/** A part of a message that is no text: a media, or a part of another type. Plain data. */
export interface RecordedMedia {
  readonly kind: MediaKind;
  readonly mimeType: string;
  /** Never empty. */
  readonly filename: string;
  /** Its bytes in base64, or what the part says in their place: an address, or the part in JSON. */
  readonly data: string;
  /** The address where there are no bytes; empty for none. */
  readonly source: string;
}

/** The kinds of media by the types of parts. */
const KINDS = new Map<unknown, MediaKind>([
  ['image_url', 'image'],
  ['input_audio', 'audio'],
  ['audio_url', 'audio'],
  ['video_url', 'video'],
  ['file', 'document'],
  ['document_url', 'document'],
]);

/** Members of a media's part that hold its bytes, or say where they are. */
const ADDRESSES = ['url', 'data', 'file_data'];
/** Members that the form has itself. */
const OWN = ['kind', 'mimeType', 'data', 'url'];

/** Whether a part of a content is to become a media. */
export function isMedia(part: unknown): part is Fields {
  if (!isObject(part) || typeof part['text'] === 'string') return false;
  return part['type'] !== 'thinking' && part['type'] !== 'reasoning' && part['type'] !== 'refusal';
}

/**
 * Brings a media's part into the form that is compared: kind and mimeType with data, which is its bytes in base64, or kind
 * with url. What else the part says stays; what is no media is the member part.
 */
export function normalMedia(part: Fields): Fields {
  const { type } = part;
  const kind = KINDS.get(type);
  const given = part[type as string];
  const inner = isObject(given) ? given : {};
  const unknown = { kind: 'document', part };
  if (kind === undefined || (!isObject(given) && typeof given !== 'string')) return unknown;
  const { type: _, [type as string]: _given, ...others } = part;
  const out: Fields = { ...others, ...inner };
  const key = ADDRESSES.find((name) => typeof inner[name] === 'string');
  const address = typeof given === 'string' ? given : key === undefined ? '' : inner[key];
  if (key !== undefined) Reflect.deleteProperty(out, key);
  if (OWN.some((name) => out[name] !== undefined && out[name] !== null)) return unknown;
  out['kind'] = kind;
  // Which it is by default.
  if (out['detail'] === 'auto') delete out['detail'];
  let { mimeType, bytes } = dataURL(address as string);
  const { format } = out;
  if (type === 'input_audio' && typeof format === 'string' && format !== '') {
    mimeType = `audio/${format.toLowerCase()}`;
    bytes ??= decodeBase64(address as string);
  }
  if (bytes !== undefined) {
    delete out['format'];
    out['mimeType'] = plainType(mimeType);
    out['data'] = btoa(bytes);
  } else if (address !== '') out['url'] = address;
  return out;
}

const SENT = new Set([
  ...['image image/png', 'image image/jpeg', 'image image/webp', 'image image/gif'],
  ...['audio audio/wav', 'audio audio/mpeg', 'document application/pdf'],
]);

/** Whether the executor sends a media of a user's message, which is in the form that is compared. */
export function isSent(media: unknown): boolean {
  if (!isObject(media) || typeof media['data'] !== 'string') return false;
  return SENT.has(`${String(media['kind'])} ${String(media['mimeType'])}`);
}

/** The media of a content. */
export function mediaIn(content: unknown): RecordedMedia[] {
  return Array.isArray(content) ? content.filter(isMedia).map(readMedia) : [];
}

/** Reads a part that is a media. */
function readMedia(part: Fields): RecordedMedia {
  const { kind, filename, mimeType, data, url } = normalMedia(part);
  const named = {
    kind: kind as MediaKind,
    filename: typeof filename === 'string' && filename.trim() !== '' ? filename : String(kind),
    source: '',
  };
  if (typeof data === 'string') return { ...named, mimeType: String(mimeType), data };
  if (typeof url !== 'string') {
    return { ...named, mimeType: 'application/json', data: btoa(bytesOf(sortedJSON(part))) };
  }
  const [place] = url.split('?', 1);
  const name = place!.slice(place!.lastIndexOf('/') + 1);
  return {
    ...named,
    mimeType: 'text/uri-list',
    data: btoa(bytesOf(url)),
    source: url,
    ...((filename ?? '') !== '' || name.trim() === '' ? {} : { filename: name }),
  };
}

/** Names of types that have others. */
const NAMES = new Map([
  ['image/jpg', 'image/jpeg'],
  ['audio/mp3', 'audio/mpeg'],
  ['audio/x-wav', 'audio/wav'],
  ['audio/wave', 'audio/wav'],
  ['audio/vnd.wave', 'audio/wav'],
  ['', 'text/plain'],
]);

/** A MIME type without parameters, in lower case, by the name that most have for it. */
function plainType(mimeType: string): string {
  const plain = mimeType.split(';', 1)[0]!.trim().toLowerCase();
  return NAMES.get(plain) ?? plain;
}

/** Reads a URL that holds the data itself; the bytes are characters, and undefined when it holds none. */
function dataURL(url: string): { mimeType: string; bytes: string | undefined } {
  const comma = url.indexOf(',');
  if (comma < 0 || url.slice(0, 5).toLowerCase() !== 'data:') {
    return { mimeType: '', bytes: undefined };
  }
  const head = url.slice(5, comma);
  const bytes = bytesOf(url.slice(comma + 1)).replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(parseInt(hex, 16)),
  );
  const plain = head.replace(/;base64$/i, '');
  return { mimeType: plain, bytes: plain === head ? bytes : decodeBase64(bytes) };
}

/** The bytes of a text in UTF-8, as characters. */
function bytesOf(text: string): string {
  // oxlint-disable-next-line no-control-regex
  if (/^[\0-\x7f]*$/.test(text)) return text;
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}

/** Reads base64 in either alphabet, with or without padding, and with white space in it. */
function decodeBase64(text: string): string | undefined {
  const plain = text
    .replace(/[ \t\r\n]/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/=+$/, '');
  if (!/^[A-Za-z0-9+/]*$/.test(plain) || plain.length % 4 === 1) return undefined;
  return atob(plain);
}
