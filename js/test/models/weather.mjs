// The scripted model of the tests: it calls get_weather, answers what the tool said, and can go on about anything else.
import { scriptedModel } from '../../../examples/browser/model/tiny-llama.mjs';

/** What it says when it has the result of its call. */
export const ANSWER = 'It is four degrees in Oslo now.';

/** Words of the answer to "a poem", which is long enough to be stopped. */
export const WORDS = 400;

/** Makes it. @returns the bytes of a GGUF file */
export function weatherModel() {
  return scriptedModel([
    {
      when: "last.role == 'tool' or '<tool_response>' in last.content",
      pieces: ['It', ' is', ' four', ' degrees', ' in', ' Oslo now', '.'],
    },
    {
      when: "'poem' in last.content",
      pieces: Array.from({ length: WORDS }, (_, n) => `word${n} `),
    },
    {
      when: 'true',
      // No token may be the marker of calls itself: llama.cpp would take it for a special one.
      pieces: [
        ...['<tool_', 'call>\n', '{"name": "', 'get_weather', '", "arguments": {', '"city": "'],
        ...['Oslo', '", "days": ', '3', '}}', '\n</tool_call>'],
      ],
    },
  ]);
}
