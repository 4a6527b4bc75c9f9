/**
 * Reasoning that stands in the texts of recorded answers.
 */
import { isObject } from '../simulated/text.js';
import type { Recording } from './recording.js';

/** A content that was sent in the place of a recorded one. */
export interface AlignedContent {
  readonly path: string;
  readonly got: unknown;
  readonly want: string;
}

/**
 * Gives answers in got the contents of those in want that have the same text behind reasoning in tags, as some clients send
 * it back, or behind white space that was left where an answer of the provider's had it, and tells of them.
 */
export function* alignThoughts(
  recording: Recording,
  n: number,
  got: readonly unknown[],
  want: readonly unknown[],
): Generator<AlignedContent> {
  for (const [i, recorded] of want.entries()) {
    const sent = got[i];
    if (!isObject(sent) || !isObject(recorded) || recorded['role'] !== 'assistant') continue;
    const { content } = recorded;
    const { content: own } = sent;
    if (typeof content !== 'string' || own === content) continue;
    const { text, tagged } = withoutThoughts(content);
    if ((typeof own === 'string' ? own : '') !== text) continue;
    if (!tagged && !thinks(recording, n)) continue;
    yield { path: `/messages/${i}/content`, got: own, want: content };
    sent['content'] = content;
  }
}

/** A text without reasoning in tags at its beginning, and without the white space around that. */
function withoutThoughts(text: string): { text: string; tagged: boolean } {
  let rest = withoutBlanks(text);
  let tagged = false;
  while (rest.startsWith('<think>')) {
    tagged = true;
    const end = rest.indexOf('</think>');
    rest = end < 0 ? '' : withoutBlanks(rest.slice(end + '</think>'.length));
  }
  return { text: rest, tagged };
}

function withoutBlanks(text: string): string {
  return text.replace(/^[ \t\r\n]+/, '');
}

/** Whether a provider's response before request n may have reasoning in tags. Streams cut the tag at its brackets. */
function thinks({ interactions }: Recording, n: number): boolean {
  return interactions.slice(0, n).some(({ response }) => response.body.includes('think'));
}
