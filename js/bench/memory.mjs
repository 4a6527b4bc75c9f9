/**
 * Memory of an instance that runs many turns, and of its host.
 */
import { Conversation } from './conversation.mjs';
import { collect, once } from './meter.mjs';

const MIB = 1 << 20;

export async function measureMemory(pace) {
  const conversation = new Conversation(0);
  const { host } = conversation.runner;
  const { instance } = await host.acquire();
  const guest = [];
  const heap = [];
  let done = 0;
  for (const turns of pace.turns) {
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
