/**
 * Deltas of streams with whole characters: code that cuts a text anywhere parts those that are two units long.
 */

/** Keeps first halves of characters, which wait for the next delta of their streams. */
export interface Halves {
  /** By the streams' names; undefined before there was one. */
  halves: Map<string, string> | undefined;
}

/**
 * What a delta makes whole. The last one of a stream leaves nothing to wait for.
 *
 * @param names name the stream
 */
export function wholeDelta(of: Halves, delta: string, last: boolean, ...names: unknown[]): string {
  if (of.halves === undefined && (last || !endsWithHalf(delta))) return delta;
  const halves = (of.halves ??= new Map<string, string>());
  const stream = names.join(' ');
  const text = (halves.get(stream) ?? '') + delta;
  halves.delete(stream);
  if (last || !endsWithHalf(text)) return text;
  halves.set(stream, text.slice(-1));
  return text.slice(0, -1);
}

function endsWithHalf(text: string): boolean {
  return (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800;
}
