/**
 * Answers in the form that chat completions have on the wire.
 */
import type { Answer, ChatRequest } from './answer.js';
import { byteLength, sortedJSON } from './text.js';

/** Bytes of a call's arguments in one chunk. */
const ARGUMENT_BYTES = 8;
/** Bytes that count as a token. */
const TOKEN_BYTES = 4;

/** The data of a streamed answer's server-sent events. */
export function streamedAnswer(answer: Answer, request: ChatRequest): string[] {
  const out: string[] = [];
  const add = (fields: object): void => {
    const head = { id: idOf(request), object: 'chat.completion.chunk', model: request.model };
    out.push(sortedJSON({ ...head, ...fields }));
  };
  const delta = (content: object, finish: string | null = null): void =>
    add({ choices: [{ index: 0, delta: content, finish_reason: finish }] });

  delta({ role: 'assistant', content: '' });
  for (const word of words(answer.thought)) delta({ reasoning_content: word });
  for (const word of words(answer.text)) delta({ content: word });
  if (answer.tool !== '') {
    const fn = { name: answer.tool, arguments: '' };
    delta({ tool_calls: [{ index: 0, id: callId(request), type: 'function', function: fn }] });
    for (const part of parts(answer.args)) {
      delta({ tool_calls: [{ index: 0, function: { arguments: part } }] });
    }
  }
  delta({}, finishReason(answer));
  add({ choices: [], usage: usage(answer, request) });
  out.push('[DONE]');
  return out;
}

/** An answer that is not streamed, as JSON text. */
export function wholeAnswer(answer: Answer, request: ChatRequest): string {
  const message: Record<string, unknown> = { role: 'assistant', content: answer.text };
  if (answer.tool !== '') {
    const fn = { name: answer.tool, arguments: answer.args };
    message['content'] = null;
    message['tool_calls'] = [{ id: callId(request), type: 'function', function: fn }];
  }
  if (answer.thought !== '') message['reasoning_content'] = answer.thought;
  return sortedJSON({
    id: idOf(request),
    object: 'chat.completion',
    model: request.model,
    choices: [{ index: 0, message, finish_reason: finishReason(answer) }],
    usage: usage(answer, request),
  });
}

/** Ids grow with the conversation, so that they differ within it and are the same for the same request. */
const idOf = (request: ChatRequest): string => `sim-${request.messages.length}`;
const callId = (request: ChatRequest): string => `call_${request.messages.length}`;
const finishReason = (answer: Answer): string => (answer.tool === '' ? 'stop' : 'tool_calls');

function usage(answer: Answer, request: ChatRequest): object {
  const tokens = (bytes: number): number => Math.ceil(bytes / TOKEN_BYTES);
  const prompt = tokens(request.messages.reduce((sum, { text }) => sum + byteLength(text), 0));
  const completion = tokens(byteLength(answer.thought + answer.text + answer.args));
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  };
}

/** A text, split behind each space. */
function words(text: string): string[] {
  if (text === '') return [];
  const list = text.split(' ');
  return list.map((word, i) => (i < list.length - 1 ? `${word} ` : word));
}

/** A text, split behind the character that fills up eight bytes. */
function* parts(text: string): Generator<string> {
  let part = '';
  let size = 0;
  for (const char of text) {
    part += char;
    size += byteLength(char);
    if (size < ARGUMENT_BYTES) continue;
    yield part;
    part = '';
    size = 0;
  }
  if (part !== '') yield part;
}
