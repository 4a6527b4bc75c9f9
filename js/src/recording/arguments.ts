/**
 * Arguments of tool calls that are no JSON.
 */
import { isObject } from '../simulated/text.js';
import { listOf } from './messages.js';

/** What the executor tells the model about arguments that it could not read. */
const BAD_ARGUMENTS = "The model's tool call has arguments that are no JSON object";

/** The tool calls of a message, none where one is no object. */
export function callsIn(message: unknown): Record<string, unknown>[] {
  const calls = isObject(message) ? message['tool_calls'] : undefined;
  return Array.isArray(calls) && calls.every(isObject) ? calls : [];
}

/**
 * Makes arguments equal that are no JSON, where the executor could not read those that the provider gave either, and those
 * of the conversation before the turn; and tells of them.
 *
 * @param first the messages of the first recorded request
 */
export function* alignArguments(
  got: readonly unknown[],
  want: readonly unknown[],
  first: readonly unknown[],
): Generator<{ path: string; got: unknown; want: unknown }> {
  const given = new Set(first.flatMap(callsIn).map((call) => functionOf(call)['arguments']));
  for (const [i, message] of got.entries()) {
    const recorded = callsIn(want[i]);
    for (const [k, call] of callsIn(message).entries()) {
      const fn = functionOf(call);
      const args = fn['arguments'];
      const own = functionOf(recorded[k])['arguments'];
      if (typeof own !== 'string' || !isObject(args) || Object.keys(args).length > 0) continue;
      const refused = got
        .slice(i + 1)
        .some(
          (result) =>
            isObject(result) &&
            result['tool_call_id'] === call['id'] &&
            String(result['content']).startsWith(BAD_ARGUMENTS),
        );
      if (!refused && !given.has(own)) continue;
      yield { path: `/messages/${i}/tool_calls/${k}/function/arguments`, got: args, want: own };
      fn['arguments'] = own;
    }
  }
}

function functionOf(call: Record<string, unknown> | undefined): Record<string, unknown> {
  const fn = call?.['function'];
  return isObject(fn) ? fn : {};
}

/** The messages of a body that is in the form that is compared. */
export function messagesIn(body: unknown): readonly unknown[] {
  return isObject(body) ? listOf(body['messages']) : [];
}
