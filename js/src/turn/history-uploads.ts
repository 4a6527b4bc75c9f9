/**
 * The histories that an instance holds, by number.
 */
import { writeDropHistory, writeHistory } from '../codec/tuples.gen.js';
import { Encoder } from '../codec/encoder.js';
import { wrongFrame } from '../codec/decoder.js';
import type { Instance } from '../instance/instance.js';
import type { StepRecorder } from '../journal/writer.js';
import { encodeBody, type Encodable } from '../primitives/body.js';
import type { HistorySink } from './edits.js';

/** What an instance can hold of a history. */
export interface Uploaded {
  /** The number of its collection. */
  readonly collection: number;
  at(index: number): Encodable | undefined;
}

/** A history in an instance. */
interface Upload {
  readonly number: number;
  readonly history: Uploaded;
  /** Records that the instance was told, or that an invocation has counted. */
  count: number;
  /** Records that the instance has: more than `count` if invocations have appended some. */
  there: number;
  bytes: number;
}

/** Bytes of bodies in one History frame. */
const BLOCK = 1 << 20;
/** Bytes of histories that an instance holds before the least recently used are dropped. */
const MAX_BYTES = 64 << 20;

/** Uploads histories to one instance, each record once, and drops the least recently used. */
export class HistoryUploads implements HistorySink {
  readonly #instance: Instance;
  /** In the order of their last use. */
  readonly #uploads = new Map<Uploaded, Upload>();
  readonly #enc = new Encoder();
  readonly #body = new Encoder();
  /** The histories named by the edits of a batch. */
  #named: Uploaded[] = [];
  #last: number;
  #bytes = 0;

  /** @param last the number before that of the first history */
  constructor(instance: Instance, last = 0) {
    this.#instance = instance;
    this.#last = last;
  }

  /** The number of a history. Afterwards the instance has at least its first records. */
  number(history: Uploaded, length: number): number {
    let upload = this.#uploads.get(history);
    if (upload === undefined)
      upload = { number: ++this.#last, history, count: 0, there: 0, bytes: 0 };
    else this.#uploads.delete(history);
    this.#uploads.set(history, upload);
    if (upload.there < length) while (upload.count < length) this.#append(upload, length);
    this.#shrink();
    return upload.number;
  }

  /** Notes that an invocation has begun with the first records of a history: the next frame has what follows them. */
  counted(history: Uploaded, length: number): void {
    const upload = this.#uploads.get(history);
    if (upload !== undefined) upload.count = Math.max(upload.count, length);
  }

  /** Notes that an invocation has appended the last one of the first records of a history, which the instance has. */
  appended(history: Uploaded, length: number): void {
    const upload = this.#uploads.get(history);
    if (upload?.there === length - 1) upload.there = length;
  }

  /** Has the instance forget a history. */
  drop(history: Uploaded): void {
    const upload = this.#uploads.get(history);
    if (upload === undefined) return;
    this.#uploads.delete(history);
    this.#bytes -= upload.bytes;
    if (!this.#instance.alive) return;
    const enc = this.#enc;
    enc.reset();
    writeDropHistory(enc, { history: upload.number });
    this.#step();
  }

  /** Notes that an edit names a history. */
  named(history: Uploaded): void {
    this.#named.push(history);
  }

  /** Writes the histories that a batch of edits names into a journal, before the batch. */
  record(recorder: StepRecorder | undefined): void {
    const named = this.#named;
    this.#named = [];
    if (recorder === undefined) return;
    for (const history of named) {
      const upload = this.#uploads.get(history);
      if (upload === undefined) continue;
      for (let from = 0; from < upload.there;) {
        from = this.#encode(upload, from, upload.there);
        recorder.step(this.#enc.copy(), new Uint8Array(0));
      }
    }
  }

  #append(upload: Upload, length: number): void {
    upload.count = this.#encode(upload, upload.count, length);
    upload.there = Math.max(upload.there, upload.count);
    const size = this.#enc.length;
    this.#step();
    upload.bytes += size;
    this.#bytes += size;
  }

  /** Writes a History frame with the records from an index on. Returns the index after them. */
  #encode(upload: Upload, from: number, to: number): number {
    let stop = from;
    const body = this.#body;
    body.reset();
    while (stop < to && body.length < BLOCK) upload.history.at(stop++)![encodeBody](body);
    const enc = this.#enc;
    enc.reset();
    writeHistory(enc, {
      history: upload.number,
      collection: upload.history.collection,
      count: stop - from,
      block: body.bytes(),
    });
    return stop;
  }

  #shrink(): void {
    for (const history of this.#uploads.keys()) {
      if (this.#bytes <= MAX_BYTES || this.#uploads.size === 1) return;
      this.drop(history);
    }
  }

  #step(): void {
    const out = this.#instance.step(this.#enc.bytes());
    if (out.length > 0) throw wrongFrame('a history was not taken');
  }
}
