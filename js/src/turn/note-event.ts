/**
 * Notes of events, taken before their delivery.
 */
import { EventKind, Results } from '../abi/frames.gen.js';
import { CodecError } from '../codec/decoder.js';
import type { EventFrame } from '../codec/tuples.gen.js';
import type { ContextState } from './context-state.js';
import type { Gates } from './gates.js';
import type { Kept } from './kept.js';

/** What a note needs of its turn. */
export interface NotingTurn {
  readonly gates: Gates;
  readonly kept: Kept;
  context(number: number): ContextState;
}

/** Whether {@link noteEvent} is for this event. */
export function isNoted({ kind }: EventFrame): boolean {
  return (
    kind === EventKind.ToolCall ||
    kind === EventKind.TurnGateOpen ||
    kind === EventKind.TurnGateClosed
  );
}

/**
 * Notes what must not wait for an event's delivery: the state of a gate, and the kept result that a tool call shows,
 * which its record takes away.
 *
 * @throws CodecError if the event is malformed
 */
export function noteEvent(turn: NotingTurn, frame: EventFrame): void {
  switch (frame.kind) {
    case EventKind.TurnGateOpen:
      turn.gates.noteOpen(frame, frame.payload);
      return;
    case EventKind.TurnGateClosed:
      turn.gates.noteClosed(frame.payload);
      return;
    case EventKind.ToolCall: {
      const { id, results, kept } = frame.payload;
      if (results !== Results.Kept) return;
      if (!turn.kept.has(kept)) {
        throw new CodecError('frame', 0, `nothing is kept of effect ${kept}`);
      }
      turn.context(frame.dispatch).setResults(id, turn.kept.get(kept));
      return;
    }
    default:
  }
}
