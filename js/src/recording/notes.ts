/**
 * What the executor says of media that are played.
 */
import { isDeepStrictEqual } from 'node:util';

import { isObject } from '../simulated/text.js';
import { isMedia, isSent } from './media.js';
import { listOf } from './messages.js';

type Fields = Record<string, unknown>;

const NOTE =
  /^\[(image|audio|video|document) media-[0-9]+-[0-9]+ "([^"\\]|\\.)*"(, [a-z0-9.+_-]+\/[a-z0-9.+_-]+)?\]$/;

/**
 * Takes the executor's notes out of the messages of a request: those before media become the member notes, those that
 * stand for media which are not sent, at the end of a text, the member stand_ins.
 */
export function takeNotes(messages: readonly unknown[]): void {
  for (const message of messages) {
    if (!isObject(message)) continue;
    const { content } = message;
    const before: string[] = [];
    let instead: readonly string[] = [];
    if (typeof content === 'string') {
      ({ rest: message['content'], notes: instead } = withoutNotes(content));
    } else if (Array.isArray(content)) {
      message['content'] = content.filter((part: unknown, i) => {
        if (!isObject(part) || typeof part['text'] !== 'string') return true;
        if (NOTE.test(part['text']) && i + 1 < content.length && isMedia(content[i + 1])) {
          before.push(part['text']);
          return false;
        }
        if (instead.length > 0) return true;
        ({ rest: part['text'], notes: instead } = withoutNotes(part['text']));
        return part['text'] !== '';
      });
    }
    if (before.length > 0) message['notes'] = before;
    if (instead.length > 0) message['stand_ins'] = instead;
  }
}

/** Takes the notes away that stand at the end of a text, behind a blank line. */
function withoutNotes(text: string): { rest: string; notes: readonly string[] } {
  const lines = text.split('\n');
  const n = lines.findLastIndex((line) => !NOTE.test(line)) + 1;
  const notes = lines.slice(n);
  if (n === lines.length || n === 0) return { rest: lines.slice(0, n).join('\n'), notes };
  if (lines[n - 1] !== '') return { rest: text, notes: [] };
  return { rest: lines.slice(0, n - 1).join('\n'), notes };
}

/** A media that the executor does not send, and the note that stands for it in the request. */
interface LeftOut {
  readonly path: string;
  readonly got: unknown;
  readonly want: unknown;
}

/**
 * Takes those media out of recorded messages that the executor does not send, and tells of them: with the note, or with the
 * media that the messages of the recorded request before have in the place.
 */
export function leaveOutMedia(
  got: readonly unknown[],
  want: readonly unknown[],
  before: readonly unknown[],
): LeftOut[] {
  for (const message of got) if (isObject(message)) joinOrder(message, new Set());
  return want.flatMap((message, i) => {
    if (!isObject(message)) return [];
    const media = listOf(message['media']);
    if (media.length === 0) return [];
    const sent = isObject(got[i]) ? got[i] : {};
    const notes = listOf(sent['stand_ins']);
    const left = new Set(media.filter((one) => message['role'] !== 'user' || !isSent(one)));
    const old = before[i];
    const known = isObject(old) ? listOf(old['media']) : [];
    const found = [...left].map((one, k) => {
      const at = media.indexOf(one);
      const same = i >= before.length || isDeepStrictEqual(known[at], one);
      return { path: `/messages/${i}/media/${at}`, got: same ? notes[k] : known, want: one };
    });
    if (left.size === notes.length) delete sent['stand_ins'];
    joinOrder(message, new Set(found.map(({ want: one }) => media.indexOf(one))));
    const kept = media.filter((one) => !left.has(one));
    if (kept.length > 0) message['media'] = kept;
    else delete message['media'];
    return found;
  });
}

/** Puts the order of a message's texts and media into words, without the media that are left out. */
function joinOrder(message: Fields, left: ReadonlySet<number>): void {
  const { order } = message;
  if (!Array.isArray(order)) return;
  const words: unknown[] = [];
  let k = 0;
  for (const what of order) {
    if (what === 'text' ? words.at(-1) !== 'text' : !left.has(k)) words.push(what);
    if (what !== 'text') k += 1;
  }
  if (words.length > 0 && k > left.size) message['order'] = words.join(', ');
  else delete message['order'];
}
