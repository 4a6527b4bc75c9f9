/**
 * Which interactions of a recording belong to one turn.
 */
import { isDeepStrictEqual } from 'node:util';

import { isObject } from '../simulated/text.js';
import { isChat } from './conversation.js';
import { bodyOf, listOf } from './messages.js';
import { normalBody } from './normal.js';
import { type Interaction, InvalidRecording, type Recording } from './recording.js';

/**
 * The interactions of the first conversation's turn: the first request for chat completions, those that go on from it with
 * the answers of tools, and those that repeat one which failed. Other requests, other conversations and what the user said
 * later are left out.
 *
 * @throws InvalidRecording when there is no request for chat completions
 */
export function threadOf({ name, interactions }: Recording): Recording {
  const chats = interactions.filter(isChat);
  if (chats.length === 0) {
    const problem = 'must hold a POST of messages to an address that ends in /chat/completions';
    throw new InvalidRecording('interactions', problem);
  }
  const lists = chats.map(({ request }) => {
    const body = normalBody(request.body);
    return listOf(isObject(body) ? body['messages'] : undefined);
  });
  const thread = [chats[0]!];
  for (let at = follower(chats, lists, 0); at >= 0; at = follower(chats, lists, at)) {
    thread.push(chats[at]!);
  }
  return { name, interactions: thread };
}

/**
 * The number of the request that goes on from another one, -1 for none: the first that goes on exactly, or else the first
 * that has more of what tools answered.
 */
function follower(chats: readonly Interaction[], lists: readonly unknown[][], at: number): number {
  const from = lists[at]!;
  const repeated = failed(chats[at]!);
  const exact = lists.findIndex(
    (list, i) =>
      i > at &&
      isDeepStrictEqual(list.slice(0, from.length), from) &&
      goesOn(list.slice(from.length), repeated),
  );
  if (exact >= 0) return exact;
  return lists.findIndex((list, i) => {
    if (i <= at) return false;
    if (isTurn(list[from.length]) && isDeepStrictEqual(list.slice(0, from.length), from)) {
      return false;
    }
    return toolMessages(list) > toolMessages(from) || (repeated && list.length === from.length);
  });
}

/** Whether messages behind those of a request belong to the same turn. */
function goesOn(more: readonly unknown[], repeated: boolean): boolean {
  if (more.length === 0) return repeated;
  const [next] = more;
  if (!isObject(next)) return false;
  return (
    (next['role'] === 'assistant' && next['tool_calls'] !== undefined) || next['role'] === 'tool'
  );
}

/** Whether another turn goes on with a message: behind an answer in words, or with what the user says. */
function isTurn(message: unknown): boolean {
  if (!isObject(message)) return false;
  const { role, tool_calls: calls } = message;
  return (role === 'assistant' && calls === undefined) || role === 'user';
}

function toolMessages(list: readonly unknown[]): number {
  return list.filter((message) => isObject(message) && message['role'] === 'tool').length;
}

/** Whether a response is one that a client may ask for again. */
function failed({ response: { status, body } }: Interaction): boolean {
  return status > 299 || !body.includes('"choices"') || body.includes('"error"');
}

/** How often the recorded client sent a request at most, and after which statuses it sent one again. */
export function retriesOf({ interactions }: Recording): { attempts: number; statuses: number[] } {
  const statuses = new Set<number>();
  let attempts = 1;
  let run = 1;
  interactions.forEach((interaction, i) => {
    const before = interactions[i - 1];
    if (before === undefined || !failed(before) || lengthOf(before) !== lengthOf(interaction)) {
      run = 1;
      return;
    }
    run += 1;
    attempts = Math.max(attempts, run);
    if (before.response.status > 399) statuses.add(before.response.status);
  });
  return { attempts, statuses: [...statuses] };
}

function lengthOf(interaction: Interaction): number {
  return listOf(bodyOf(interaction)['messages']).length;
}
