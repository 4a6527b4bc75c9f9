/**
 * Counts the instructions that the module executes: in turns and invocations, and in which functions. Unlike a time, a
 * count is the same in each run and on each machine.
 *
 *   make instructions                      all that is counted, and the functions of a turn
 *   make instructions OF=invocation        the functions of an invocation
 *
 *   node js/bench/instructions.mjs FILE [--of NAME] [--top 40]
 *                                          FILE is what `go run ./wasm/build -counted -o DIR` has written
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Host } from 'turncore';
import { chat, provider } from './chat.mjs';
import { Conversation, input } from './conversation.mjs';
import { Geography, add, capitalOf, lookUp } from './invocations.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    of: { type: 'string', default: 'turn' },
    top: { type: 'string', default: '40' },
  },
});
if (positionals.length !== 1) throw new Error('one file is needed: a module that counts');
const module = new WebAssembly.Module(readFileSync(positionals[0]));

/** The instances that were made last: nothing else shows the globals that count. */
let exports;
const { Instance } = WebAssembly;
WebAssembly.Instance = class extends Instance {
  constructor(...args) {
    super(...args);
    exports = this.exports;
  }
};

/** How often each operation is done before it is counted, and then. */
const WARM = 100;
const RUNS = 300;

/** What each of some operations costs, by the function's index. */
async function count(operation) {
  for (let i = 0; i < WARM; i++) await operation();
  const before = read();
  for (let i = 0; i < RUNS; i++) await operation();
  const after = read();
  return [...after].map(([index, { calls, instructions }]) => ({
    index,
    calls: (calls - before.get(index).calls) / RUNS,
    instructions: (instructions - before.get(index).instructions) / RUNS,
  }));
}

function read() {
  const counts = new Map();
  for (const [name, global] of Object.entries(exports)) {
    const [, kind, index] = /^(calls|instructions) (\d+)$/.exec(name) ?? [];
    if (kind === undefined) continue;
    const of = counts.get(Number(index)) ?? {};
    counts.set(Number(index), Object.assign(of, { [kind]: Number(global.value) }));
  }
  return counts;
}

/** The names of the functions, by index, from the module's section of names. */
function functionNames() {
  const [section] = WebAssembly.Module.customSections(module, 'name');
  const bytes = new Uint8Array(section);
  let at = 0;
  const number = () => {
    for (let n = 0, shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      n |= (byte & 0x7f) << shift;
      if (byte < 0x80) return n >>> 0;
    }
  };
  const names = new Map();
  while (at < bytes.length) {
    const kind = bytes[at++];
    const end = number() + at;
    for (let left = kind === 1 ? number() : 0; left > 0; left--) {
      const index = number();
      const size = number();
      names.set(index, new TextDecoder().decode(bytes.subarray(at, (at += size))));
    }
    at = end;
  }
  return names;
}

const host = () => new Host({ module });
const conversation = (stored) => {
  const c = new Conversation(0, { host: host() });
  if (!stored) c.input = { systemPrompt: input.systemPrompt };
  return () => c.turn();
};
const subjects = {
  turn: () => conversation(false),
  'turn-stored': () => conversation(true),
  'turn-chat': () => {
    const c = chat(20, undefined, module);
    return () => c.ask();
  },
  invocation: () => {
    const g = new Geography(lookUp, capitalOf, undefined, module);
    return () => g.alone();
  },
  'invocation-chat': () => {
    const model = { model: 'm', baseURL: 'http://provider/v1' };
    const g = new Geography(model, add, provider(20), module);
    return () => g.alone();
  },
};
if (!(values.of in subjects)) throw new Error(`--of is one of ${Object.keys(subjects).join(', ')}`);

const sum = (list, of) => list.reduce((n, f) => n + f[of], 0);
const text = (n) => n.toFixed(n < 100 ? 1 : 0).padStart(12);
console.log('instructions       calls');
let functions;
for (const [name, prepare] of Object.entries(subjects)) {
  const list = await count(prepare());
  console.log(`${text(sum(list, 'instructions'))}${text(sum(list, 'calls'))}  ${name}`);
  if (name === values.of) functions = list;
}
const names = functionNames();
console.log(`\n${values.of}, by function, without what it calls:`);
console.log('instructions       calls    per call');
functions.sort((a, b) => b.instructions - a.instructions);
for (const { index, calls, instructions } of functions.slice(0, Number(values.top))) {
  const each = calls === 0 ? 0 : instructions / calls;
  console.log(`${text(instructions)}${text(calls)}${text(each)}  ${names.get(index) ?? index}`);
}
