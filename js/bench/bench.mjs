/**
 * Measures Turncore on Node: host/internal/bench does the same for Go, and `make bench` puts both into one table. What
 * is measured is the package as programs get it, but for frames, which need what it does not export.
 *
 *   node js/bench/bench.mjs                prints the results
 *   node js/bench/bench.mjs --quick        takes seconds, to see that everything runs
 *   node js/bench/bench.mjs --only measureTurns
 *                                          measures one part
 *   node js/bench/bench.mjs --json FILE    writes them for host/internal/bench/report
 */
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { measureChat } from './chat.mjs';
import { measureChatHistory } from './chathistory.mjs';
import { measureCrowd } from './crowd.mjs';
import { measureGates } from './gates.mjs';
import { measureAdding, measureHistories } from './histories.mjs';
import { measureMemory } from './memory.mjs';
import { full, quick } from './meter.mjs';
import { measureSeams } from './seams.mjs';
import { measureStart } from './start.mjs';
import { measureTurns } from './turns.mjs';

const { values } = parseArgs({
  options: {
    json: { type: 'string' },
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
});
const pace = values.quick ? quick : full;
const before = loadavg()[0];
const rows = [];
for (const part of [
  measureStart,
  async function measureFrames(pace) {
    return (await import('./frames.mjs')).measureFrames(pace);
  },
  measureTurns,
  measureChat,
  measureChatHistory,
  measureSeams,
  measureGates,
  measureCrowd,
  measureHistories,
  measureAdding,
  measureMemory,
  async function measureInvocations(pace) {
    return (await import('./invocations.mjs')).measureInvocations(pace);
  },
  async function measureMetered(pace) {
    return (await import('./metered.mjs')).measureMetered(pace);
  },
]) {
  if (part.name !== (values.only ?? part.name)) continue;
  console.error(`Node: ${part.name}`);
  rows.push(...(await part(pace)));
}
if (rows.length === 0) throw new Error(`no part is called ${values.only}`);
const report = {
  host: `Node ${process.version} ${process.platform}/${process.arch}`,
  quick: values.quick,
  load: [before, loadavg()[0]],
  turns: pace.turns,
  rows,
};
if (values.json !== undefined) {
  writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
} else {
  const shown = (n) => n.toFixed(n < 10 ? 2 : 1).padStart(10);
  for (const r of rows) {
    console.log(
      `${r.figure.padEnd(22)}${shown(r.median)} ${r.unit} (${shown(r.p10)} to ${shown(r.p90)})`,
    );
  }
}
