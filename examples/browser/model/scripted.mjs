// The model that the page runs out of the box: a GGUF file, made here, whose weights hold a few fixed answers.
// llama.cpp computes them token by token, as it does for any model.
import { scriptedModel } from './tiny-llama.mjs';

/** What it answers when it has the result of a call, by a text in that result. */
const AFTER_TOOLS = {
  'Oslo:': 'The tool has looked at the sky of Oslo: what it found is in the card above.',
  52.5: 'It makes 52.5.',
  'division by zero': 'Nobody can divide by zero, and the tool said so.',
  Tokyo: 'Tokyo has the time that you see in the card above.',
  'is gone': 'Done: that note is gone.',
  refused: 'As you wish: your note stays.',
  '"titles"': 'The encyclopedia has the pages that you see in the card above.',
  '"published":true': 'Done: the report is published.',
  '"published":false': 'As you wish: nobody reads that report.',
};

/** Calls, by what the visitor's message must hold: arguments in the order in which grammars want them, by their names. */
const CALLS = [
  ['weather', 'oslo', 'get_weather', { city: 'Oslo' }],
  ['17', '2.5', 'calculate', { expression: '(17 + 4) * 2.5' }],
  ['1 / 0', '', 'calculate', { expression: '1 / 0' }],
  ['time', 'tokyo', 'current_time', { timezone: 'Asia/Tokyo' }],
  ['delete', 'note', 'delete_note', { note: 'groceries' }],
  ['search', 'jupiter', 'search', { text: 'Jupiter' }],
  ['publish', 'report', 'publish', { text: 'Fire, ice.', title: 'Moons' }],
];

const SONG = `Row, row, row your boat, gently down this stream;
merrily, merrily, merrily, merrily, life is but a dream.

`;

const OTHERWISE =
  'I am scripted: I know a few questions, a song and this text. Real llama.cpp computes every word of it in your tab, but ' +
  'from a file that holds no more than these answers. The buttons below ask what I know. To talk freely, choose another model.';

/** Makes it. @returns the bytes of a GGUF file */
export function scriptedGGUF() {
  const result = "(last.role == 'tool' or '<tool_response>' in last.content)";
  return scriptedModel([
    ...Object.entries(AFTER_TOOLS).map(([text, answer]) => ({
      when: `${result} and '${text}' in last.content`,
      pieces: words(answer),
    })),
    { when: result, pieces: words('That is what this tool says.') },
    ...CALLS.map(([one, other, tool, args]) => ({
      when: `'${one}' in last.content|lower and '${other}' in last.content|lower`,
      pieces: call(tool, args),
    })),
    { when: "'sing' in last.content|lower", pieces: words(SONG), endless: true },
    { when: 'true', pieces: words(OTHERWISE) },
  ]);
}

/** A text in words, each with the space before it. */
function words(text) {
  return text.match(/\s*\S+\s*$|\s*\S+/g);
}

/** A call as a text: no token may be the marker of calls itself, which llama.cpp would take for a special one. */
function call(name, args) {
  return [
    ...['<tool_', 'call>\n{"name": "', name, '", "arguments": '],
    ...JSON.stringify(args).match(/\w+|\W+/g),
    '}\n</tool_call>',
  ];
}
