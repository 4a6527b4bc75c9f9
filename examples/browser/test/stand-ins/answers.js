// What the stand-ins of all libraries share, and a graphics card.
{
  let release;
  const held = new Promise((resolve) => (release = resolve));
  globalThis.standIn = {
    /** Whether the model needs no download. */
    stored: false,
    /** Downloads that were cancelled. */
    cancelled: 0,
    release,

    /** Downloads a quarter, then waits for release(), or for the signal. */
    async download(report, signal) {
      report(0.25);
      await new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => {
          globalThis.standIn.cancelled++;
          reject(signal.reason);
        });
        held.then(resolve);
      });
      report(1);
    },

    /** An answer in pieces, each in a task of its own. */
    async *answer(messages) {
      const { content } = messages.at(-1);
      for (const piece of pieces(typeof content === 'string' ? content : content[0].text)) {
        await new Promise((resolve) => setTimeout(resolve, 0));
        yield piece;
      }
    },
  };

  function* pieces(said) {
    if (said.includes('<tool_response>')) yield* ['It ', 'is ', 'fine ', 'in ', 'Oslo.'];
    else if (said.includes('weather')) {
      yield* ['<think>\n', 'I need the tool.', '\n</think>\n\n'];
      yield* [
        '<tool_call>\n',
        '{"name": "get_weather", ',
        '"arguments": {"city": "Oslo"}}',
        '\n</tool_call>',
      ];
    } else if (said.includes('Sing')) {
      for (;;) yield 'la ';
    } else yield* ['You ', 'said: ', said];
  }

  Object.defineProperty(navigator, 'gpu', {
    value: { requestAdapter: async () => ({ features: new Set(['shader-f16']) }) },
  });
}
