/**
 * Whole turns, and deltas by what 480 of them add.
 */
import { Conversation, input } from './conversation.mjs';
import { measure, micros, paired, timedAsync } from './meter.mjs';

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
  await measure(pace, ...subjects);
  const delta = (many, few) => Math.max(many - few, 0) / 480 / 1e3;
  return [...subjects.map(micros), paired('delta', 'µs', subjects[3], subjects[2], delta)];
}
