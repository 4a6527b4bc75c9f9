/**
 * Whole turns, and deltas by what 480 of them add.
 */
import { decodeRecord, encodeRecord } from 'turncore/records';
import { ToolCall } from 'turncore';
import { Conversation, input, message, sumCall } from './conversation.mjs';
import { measure, micros, paired, timed, timedAsync } from './meter.mjs';

export async function measureTurns(pace) {
  const subjects = [
    ['turn', 0],
    ['turn-stored', 0],
    ['turn-20', 20],
    ['turn-500', 500],
  ].map(([figure, deltas]) => {
    const conversation = new Conversation(deltas);
    if (figure !== 'turn-stored') conversation.input = { systemPrompt: input.systemPrompt };
    return timedAsync(figure, () => conversation.turn());
  });
  subjects.push(timed('written', writeDown), timed('read', readBack));
  await measure(pace, ...subjects);
  const share = (part, turn) => part / turn;
  const delta = (many, few) => Math.max(many - few, 0) / 480 / 1e3;
  return [
    ...subjects.map(micros),
    paired('written-share', '×', subjects[4], subjects[1], share),
    paired('read-share', '×', subjects[5], subjects[1], share),
    paired('delta', 'µs', subjects[3], subjects[2], delta),
  ];
}

/** The records of a turn that stores the user's message. */
const stored = [
  message('u1', 'user', 'What is 1 + 2?'),
  sumCall('c1', 'add', '3'),
  message('m1', 'assistant', '1 and 2 make 3'),
];

/** Makes the stored forms of a turn's records. */
function writeDown() {
  for (const record of stored) encodeRecord(record);
}

const forms = stored.map((record) => [
  record instanceof ToolCall ? 'toolCall' : 'message',
  encodeRecord(record),
]);

/** Makes the records of a turn of their stored forms. */
function readBack() {
  for (const [kind, form] of forms) decodeRecord(kind, form);
}
