// What a client does, by plain requests: as curl would.
import assert from 'node:assert/strict';

/** @param turns the address of a conversation's turns @param send sends a request */
export function clientOf(turns, send = fetch) {
  const post = (path, body, signal) =>
    send(turns + path, { method: 'POST', body: JSON.stringify(body), signal });
  return {
    post,

    /** Sends a message and reads the turn to its end. */
    async say(message, turnId) {
      return read(await post('', { message, turnId }));
    },

    /** Sends a message and goes away after a piece of the answer. */
    async sayAndLeave(message, turnId) {
      const leaver = new AbortController();
      const response = await post('', { message, turnId }, leaver.signal);
      let text = '';
      for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
        text += piece;
        if (text.includes('"event":"message"')) break;
      }
      leaver.abort();
    },

    /** Sends a message whose tool asks, and answers by a second request. */
    async sayAndAnswer(message, value, turnId) {
      const response = await post('', { message, turnId });
      let text = '';
      let answered;
      for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
        text += piece;
        const open = eventsIn(text).find(({ event }) => event === 'turnGateOpen');
        if (open === undefined || answered !== undefined) continue;
        const { gateId, digest } = open;
        const path = `/${turnId}/gates/${gateId}`;
        const wrong = await post(path, { value, digest: 'of something else' });
        assert.equal(wrong.status, 422);
        await wrong.body?.cancel();
        answered = await post(path, { value, digest });
      }
      assert.equal(answered?.status, 204);
      return turnIn(text);
    },
  };
}

async function read(response) {
  const text = await response.text();
  assert.equal(response.status, 200, text);
  assert.match(response.headers.get('content-type'), /^text\/event-stream/);
  return turnIn(text);
}

/** A turn's end, its answer, the names of its tools, and how many tokens the model read. */
function turnIn(text) {
  const blocks = blocksIn(text);
  let answer = '';
  let kind;
  for (const { data } of blocks.filter(({ event }) => event === undefined)) {
    kind = Array.isArray(data) ? kind : data.event;
    if (kind === 'message') answer += Array.isArray(data) ? data[1] : data.aDelta;
  }
  const tools = eventsIn(text).filter(
    ({ event, isComplete }) => event === 'toolCall' && isComplete,
  );
  const promptTokens = eventsIn(text).findLast(
    ({ event }) => event === 'generationStats',
  )?.promptTokens;
  const { status, error } = blocks.find(({ event }) => event === 'end')?.data ?? {};
  return { status, error, answer, tools: tools.map(({ tool }) => tool), promptTokens };
}

const eventsIn = (text) =>
  blocksIn(text)
    .map(({ data }) => data)
    .filter((data) => !Array.isArray(data));

/** The blocks of a stream that are complete. */
function blocksIn(text) {
  return text
    .split('\n\n')
    .slice(0, -1)
    .map((block) => ({
      event: /^event:(.*)$/m.exec(block)?.[1],
      data: JSON.parse(/^data:(.*)$/m.exec(block)?.[1] ?? '[]'),
    }));
}
