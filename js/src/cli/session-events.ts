/**
 * Sessions of agents on a screen: the same lines as the command in Go.
 */
import { canonicalJSON } from '../codec/canonical-json.js';
import { textOf } from '../invocations/content.js';
import { type Event, functionCalls, functionResponses, reviveBody } from '../invocations/event.js';
import type { Appender } from '../store/appender.js';
import type { DatabaseStore } from '../stores/table-store.js';
import { short } from './timeline.js';

/** The events of a session, without the one that makes it. */
export async function eventsOf(store: Appender, session: string): Promise<Event[]> {
  const stored = await store.events(session);
  const events = stored.map(({ body }) => reviveBody(body));
  return events.filter(({ author }, i) => i > 0 || author !== 'system');
}

/** Counts the events of a session, without the one that makes it. */
export async function countEvents(
  store: Pick<DatabaseStore, 'countEvents' | 'events'>,
  session: string,
): Promise<number> {
  const count = await store.countEvents(session);
  const [first] = count === 0 ? [] : await store.events(session, { limit: 1 });
  return first !== undefined && reviveBody(first.body).author === 'system' ? count - 1 : count;
}

/** An event in a line. */
export function summary(event: Event): string {
  const said = [`${event.author}:`];
  const text = textOf(event.content);
  if (text !== '') said.push(short(text));
  for (const { name, args } of functionCalls(event)) {
    said.push(short(`→ ${name} ${canonicalJSON(args ?? {})}`));
  }
  for (const { name, response } of functionResponses(event)) {
    said.push(short(`← ${name} ${resultLine(response ?? {})}`));
  }
  for (const { inlineData, fileData } of event.content?.parts ?? []) {
    if (inlineData !== undefined) {
      said.push(`[${inlineData.mimeType}, ${inlineData.data.length} bytes]`);
    }
    if (fileData !== undefined) said.push(`[${fileData.fileUri}]`);
  }
  const { stateDelta, transferToAgent, rewindBeforeInvocationId: before } = event.actions;
  if (Object.keys(stateDelta).length > 0) said.push(short(`state ${canonicalJSON(stateDelta)}`));
  if (transferToAgent !== undefined) said.push(`hands over to ${transferToAgent}`);
  if (before !== undefined) said.push(`back to before ${before}`);
  if (event.errorCode !== undefined) said.push(event.errorCode);
  return said.join(' ');
}

/** A tool's result: a text as it is if it stands alone in a map, and anything else as JSON. */
function resultLine(response: Readonly<Record<string, unknown>>): string {
  const [[name, value] = [], ...more] = Object.entries(response);
  const alone = more.length === 0 && (name === 'result' || name === 'output');
  return alone && typeof value === 'string' ? value : canonicalJSON(response);
}
