// Reads from a recorded conversation what a turn that plays it must end with.
// It shares no code with the project: it knows that recorded streams have one
// JSON document a `data:` line, which is not true of SSE in general. A response
// that is not a stream is one document.

/** The recorded answers in order, each { text, thought, calls: [{ name, args }], error }. */
export function answers(recording) {
  return recording.interactions.map(({ response }) => answer(response.body));
}

function answer(body) {
  const result = { text: '', thought: '', calls: [], error: null };
  for (const chunk of documents(body)) {
    result.error ??= chunk.error ?? null;
    const choice = chunk.choices?.[0];
    const delta = choice?.delta ?? choice?.message;
    if (!delta) continue;
    result.text += delta.content ?? '';
    result.thought += delta.reasoning ?? delta.reasoning_content ?? '';
    for (const [i, part] of (delta.tool_calls ?? []).entries()) {
      const call = (result.calls[part.index ?? i] ??= {
        id: '',
        name: '',
        json: '',
      });
      call.id ||= part.id ?? '';
      call.name += part.function?.name ?? '';
      call.json += part.function?.arguments ?? '';
    }
  }
  result.calls = result.calls.map(({ id, name, json }) => ({
    id,
    name,
    args: JSON.parse(json || '{}'),
  }));
  return result;
}

/** The documents of a response. */
function documents(body) {
  if (body.trimStart().startsWith('{')) return [JSON.parse(body)];
  return body
    .split('\n')
    .filter((line) => line.startsWith('data:') && !line.includes('[DONE]'))
    .map((line) => JSON.parse(line.slice('data:'.length)));
}

/** The text with which the recording answers a tool call, or undefined for the last one's call. */
export function recordedResult(recording, callId) {
  for (const { request } of recording.interactions) {
    const reply = request.body.messages.find((m) => m.role === 'tool' && m.tool_call_id === callId);
    if (reply) return text(reply.content);
  }
  return undefined;
}

/** The text of a content field, which is a string or a list of parts. */
export function text(content) {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(text).join('');
  return content?.text ?? content?.content ?? '';
}
