/**
 * The vectors of `abi/WIRE.md`: what the encoder gives, and what the decoder makes of it, however it is cut.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { isTurncoreError } from '../../src/errors.js';
import {
  MessageEvent,
  setHead,
  ThoughtEvent,
  ToolCallEvent,
  TurnGate,
} from '../../src/events/events.js';
import type { TurnEvent } from '../../src/events/events.js';
import {
  errorFromJSON,
  eventFromJSON,
  type MakeGate,
  type Members,
} from '../../src/sse/event-from-json.js';
import { TurnDecoder } from '../../src/sse/turn-decoder.js';
import type { TurnEnd } from '../../src/sse/turn-end.js';
import { TurnEncoder } from '../../src/sse/turn-encoder.js';

interface Stream {
  readonly name: string;
  readonly after?: number;
  readonly events: readonly Line[];
  readonly end?: Members;
  readonly fault?: Members;
  readonly wire: string;
  readonly read: readonly Line[];
}

interface Response {
  readonly name: string;
  readonly wire: string;
  readonly events: readonly Line[];
}

type Line = Members & { readonly event: string; readonly seq: number; readonly at: number };

const vectors = JSON.parse(
  readFileSync(new URL('../../../../abi/testdata/sse.json', import.meta.url), 'utf8'),
) as { streams: Stream[]; accepted: Response[]; malformed: Response[] };

const makeGate: MakeGate = (question) => new TurnGate(question, () => undefined);

/** The event of a line of the event log. */
function eventOf(line: Line, texts: Map<string, string>): TurnEvent {
  const { event: name, seq, at } = line;
  const turnId = line['turnId'] as string | undefined;
  const dispatchId = line['dispatchId'] as string | undefined;
  let event: TurnEvent;
  if (name === 'message' || name === 'thought') {
    const { id, aDelta, length, isComplete, isInterrupted, createdAt } =
      line as unknown as MessageEvent;
    const key = `${name} ${dispatchId} ${id}`;
    const full = (texts.get(key) ?? '') + aDelta;
    texts.set(key, full);
    const made = name === 'message' ? MessageEvent : ThoughtEvent;
    event = new made(id, aDelta, full, length, isComplete, isInterrupted === true, createdAt, at);
  } else {
    event = eventFromJSON(name, line, { at, turnId }, makeGate)!;
  }
  setHead(event, seq, at, turnId, dispatchId, (line['iteration'] as number | undefined) ?? -1);
  return event;
}

/** A response that is being read. Text that came in several pieces is joined again. */
class Heard {
  readonly events: TurnEvent[] = [];
  readonly decoder = new TurnDecoder({
    event: (event) => {
      const last = this.events.at(-1);
      if (last?.seq === event.seq) {
        const { aDelta } = this.events.pop() as MessageEvent;
        Object.assign(event, { aDelta: aDelta + (event as MessageEvent).aDelta });
      }
      this.events.push(event);
    },
    gate: makeGate,
  });

  constructor(...pieces: readonly Uint8Array[]) {
    for (const piece of pieces) this.decoder.write(piece);
  }

  get lines(): string[] {
    return this.events.map((event) => JSON.stringify(event));
  }
}

const utf8 = new TextEncoder();
const bytesOf = (text: string): Uint8Array => utf8.encode(text);
const linesOf = (events: readonly Line[]): string[] => events.map((line) => JSON.stringify(line));
const isMalformed = (error: unknown): boolean => isTurncoreError(error, 'E_TURN_STREAM_MALFORMED');

function endOf(json: Members): TurnEnd {
  return { ...json, error: errorFromJSON(json['error']) } as unknown as TurnEnd;
}

describe('the vectors of event streams', () => {
  it('are many', () => {
    const { streams, accepted, malformed } = vectors;
    assert.ok(streams.length >= 12 && accepted.length >= 12 && malformed.length >= 25);
  });

  for (const { name, after, events, end, fault, wire, read } of vectors.streams) {
    it(name, () => {
      const encoder = new TurnEncoder(after);
      const texts = new Map<string, string>();
      let out = events.map((line) => encoder.event(eventOf(line, texts))).join('');
      if (end !== undefined) out += encoder.end(endOf(end));
      if (fault !== undefined) out += encoder.fault(errorFromJSON(fault));
      assert.equal(out, wire);

      if (after !== undefined) {
        assert.throws(() => new Heard(bytesOf(wire)), isMalformed);
        return;
      }
      if (fault !== undefined) {
        assert.throws(() => new Heard(bytesOf(wire)), { code: fault['code'] });
        return;
      }
      const whole = new Heard(bytesOf(wire));
      assert.deepEqual(whole.lines, linesOf(read));
      assert.ok(
        new TurnEncoder().end(whole.decoder.end!).includes(`data:${JSON.stringify(end)}\n`),
      );
      assert.equal(whole.decoder.lastEventId, events.length + 1);
    });
  }

  it('results without JSON are left out', () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    for (const results of [1n, cycle]) {
      const call = Object.assign(new ToolCallEvent(), { id: 'c', results, tool: 't' });
      setHead(call, 1, 2, undefined, undefined, -1);
      const line = new TurnEncoder().event(call);
      assert.equal(line, 'data:{"event":"toolCall","at":2,"id":"c","tool":"t"}\nid:1\n\n');
    }
  });

  it('are read wherever they are cut', () => {
    const readable = [
      ...vectors.streams
        .filter(({ end, after }) => end !== undefined && after === undefined)
        .map(({ name, wire, read }) => ({ name, wire, events: read })),
      ...vectors.accepted,
    ];
    for (const { name, wire, events } of readable) {
      const bytes = bytesOf(wire);
      const expected = linesOf(events);
      for (let cut = 0; cut < bytes.length; cut += 1 + Math.floor(bytes.length / 300)) {
        const heard = new Heard(bytes.subarray(0, cut), bytes.subarray(cut));
        assert.deepEqual(heard.lines, expected, `${name}, cut at byte ${cut}`);
        assert.ok(heard.decoder.end !== undefined, name);
      }
      const single = new Heard(...Array.from(bytes, (byte) => Uint8Array.of(byte)));
      assert.deepEqual(single.lines, expected, `${name}, byte by byte`);
    }
  });

  for (const { name, wire } of vectors.malformed) {
    it(`malformed: ${name}`, () => {
      const bytes = bytesOf(wire);
      for (let cut = 0; cut < bytes.length; cut++) {
        assert.throws(
          () => new Heard(bytes.subarray(0, cut), bytes.subarray(cut)),
          isMalformed,
          `cut at byte ${cut}`,
        );
      }
    });
  }
});
