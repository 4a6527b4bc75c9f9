/**
 * What an event says that must not wait for its delivery.
 */
import { EventKind, Results } from '../abi/frames.gen.js';
import { CodecError } from '../codec/decoder.js';
import type { EventFrame } from '../codec/tuples.gen.js';
import type { ContextState } from './context-state.js';
import type { Gates } from './gates.js';
import type { Kept } from './kept.js';

/** What a note needs of its session. */
export interface NotingSession {
  readonly gates: Gates;
  readonly kept: Kept;
  context(number: number): ContextState;
}

/** Tells the events that {@link noteEvent} is for. */
export function isNoted({ kind }: EventFrame): boolean {
  return (
    kind === EventKind.ToolCall ||
    kind === EventKind.TurnGateOpen ||
    kind === EventKind.TurnGateClosed
  );
}

/**
 * Notes what an event needs that must not wait for its delivery: the state of a gate, and the result that a tool call shows
 * by the number of an effect, which the record that holds it takes away.
 *
 * @throws CodecError for an event that makes no sense
 */
export function noteEvent(session: NotingSession, frame: EventFrame): void {
  switch (frame.kind) {
    case EventKind.TurnGateOpen:
      session.gates.noteOpen(frame, frame.payload);
      return;
    case EventKind.TurnGateClosed:
      session.gates.noteClosed(frame.payload);
      return;
    case EventKind.ToolCall: {
      const { id, results, kept } = frame.payload;
      if (results !== Results.Kept) return;
      if (!session.kept.has(kept)) {
        throw new CodecError('frame', 0, `nothing is kept of effect ${kept}`);
      }
      session.context(frame.dispatch).setResults(id, session.kept.get(kept));
      return;
    }
    default:
  }
}
