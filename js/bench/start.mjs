/**
 * The first turn of a process. Run as a program it loads the module, or another one that is given, runs a turn and
 * prints when it had which: a process that has run before has warmed, and V8 has compiled, what the first turn of a
 * program finds cold.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Conversation } from './conversation.mjs';
import { now, summarize } from './meter.mjs';

const self = fileURLToPath(import.meta.url);

async function startOnce(file = new URL('../dist/turncore.wasm', import.meta.url)) {
  const bytes = readFileSync(file);
  const begun = now();
  const conversation = new Conversation(0, { module: bytes });
  await conversation.runner.host.acquire();
  const instance = now() - begun;
  await conversation.turn();
  console.log(JSON.stringify({ instance, turn: now() - begun }));
}

export function measureStart(pace) {
  const results = Array.from({ length: pace.starts }, () =>
    JSON.parse(execFileSync(process.execPath, [self], { encoding: 'utf8' })),
  );
  return [
    summarize(
      'instance',
      'ms',
      results.map((r) => r.instance / 1e6),
    ),
    summarize(
      'first-turn',
      'ms',
      results.map((r) => r.turn / 1e6),
    ),
  ];
}

if (process.argv[1] === self) await startOnce(process.argv[2]);
