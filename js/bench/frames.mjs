/**
 * An instance without the API around it.
 */
import { ExecutorKind, Op } from '../dist/abi/frames.gen.js';
import { Encoder } from '../dist/codec/encoder.js';
import { loadModule } from '../dist/index.js';
import { LoadedModule } from '../dist/instance/loaded-module.js';
import { measure, micros, millis, timed } from './meter.mjs';

/** Frames as arrays of plain values. */
function encode(enc, fields) {
  enc.reset();
  enc.arrayHeader(fields.length);
  for (const field of fields) {
    if (field instanceof Uint8Array) enc.bin(field);
    else enc.value(field, 'field');
  }
  return enc.bytes();
}

/**
 * A turn whose executor never signals: each result closes an iteration, and the module opens the next and asks for the
 * executor again.
 */
function roundTrip(instance) {
  const enc = new Encoder(4096);
  const payload = new Uint8Array(1024).fill(120);
  let effect = 0;
  const send = (fields) => {
    const before = effect;
    for (const frame of instance.decode(instance.step(encode(enc, fields)))) {
      if (frame.op === Op.Effect) effect = frame.effect;
      else if (frame.op === Op.Fault || frame.op === Op.End) throw new Error(JSON.stringify(frame));
    }
    return effect > before;
  };
  send([Op.OpenRunner, 1, 1, ExecutorKind.Host, null, [], [], [], [], [], 0, []]);
  const none = [0, 0, 0, null];
  const seed = new Uint8Array(16);
  const start = [
    Op.StartTurn,
    1,
    1,
    false,
    1767225600000,
    seed,
    't',
    'p',
    [],
    null,
    none,
    [],
    false,
  ];
  send(start);
  const result = [Op.Result, 1, 0, 0, null, payload];
  return () => {
    result[2] = effect;
    if (!send(result)) throw new Error('the module has not asked for the executor again');
  };
}

export async function measureFrames(pace) {
  const module = loadModule();
  await module.compile();
  const loaded = module.use(LoadedModule);
  const instance = loaded.instantiateSync();
  const nothing = new Uint8Array(0);
  const empty = timed('empty-step', () => void instance.step(nothing));
  const effect = timed('effect', roundTrip(instance));
  const further = timed('further-instance', () => loaded.instantiateSync().close());
  await measure(pace, empty, effect);
  await measure(pace, further);
  return [micros(empty), micros(effect), millis(further)];
}
