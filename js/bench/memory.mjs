/**
 * Memory of an instance that runs many turns, and of its host. Run as a program it measures, where nothing else is on
 * the heap, and prints the rows.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Conversation } from './conversation.mjs';
import { collect, once } from './meter.mjs';

const MIB = 1 << 20;
const self = fileURLToPath(import.meta.url);

export function measureMemory(pace) {
  const turns = pace.turns.map(String);
  return JSON.parse(execFileSync(process.execPath, [self, ...turns], { encoding: 'utf8' }));
}

async function runTurns(counts) {
  const conversation = new Conversation(0);
  const { host } = conversation.runner;
  const { instance } = await host.acquire();
  const guest = [];
  const heap = [];
  let done = 0;
  for (const turns of counts) {
    for (; done < turns; done++) await conversation.turn();
    collect();
    collect();
    heap.push(process.memoryUsage().heapUsed / MIB);
    guest.push(instance.memoryBytes / MIB);
    if (host.ready()?.instance !== instance) throw new Error('another instance was started');
  }
  return [
    once('memory-guest-early', 'MiB', guest[0]),
    once('memory-guest-late', 'MiB', guest[1]),
    once('memory-guest-growth', '×', guest[1] / guest[0]),
    once('memory-heap-early', 'MiB', heap[0]),
    once('memory-heap-late', 'MiB', heap[1]),
    once('memory-heap-growth', '×', heap[1] / heap[0]),
  ];
}

if (process.argv[1] === self) {
  console.log(JSON.stringify(await runTurns(process.argv.slice(2).map(Number))));
}
