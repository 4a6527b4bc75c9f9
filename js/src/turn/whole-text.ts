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
 * @param context the number of the stream's context
 * @param stream the kind of the stream
 * @param id the id of the stream
 */
export function wholeDelta(
  of: Halves,
  context: number,
  stream: number,
  id: string,
  delta: string,
  last: boolean,
): string {
  if (of.halves === undefined && (last || !endsWithHalf(delta))) return delta;
  const halves = (of.halves ??= new Map<string, string>());
  const name = `${context} ${stream} ${id}`;
  const text = (halves.get(name) ?? '') + delta;
  halves.delete(name);
  if (last || !endsWithHalf(text)) return text;
  halves.set(name, text.slice(-1));
  return text.slice(0, -1);
}

function endsWithHalf(text: string): boolean {
  return (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800;
}
