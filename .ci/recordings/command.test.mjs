// The commands of both languages print the same event log for the same turn
// with the simulated model and with programs as tools.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { engines, reproducible, turncore } from './engines.mjs';

const cases = [
  { args: ['hello 😀 <b> "q" \\ \u2028'] },
  { args: ['calculate (2 + 3) * 4 / 7'] },
  { args: ['calculate 1 / 0'] },
  { args: ['What is the current_time?'] },
  { args: ['--system', '', 'hello'] },
  { args: ['--tool', 'weather:Tells it=cat', 'weather please'] },
  { args: ['--tool', 'weather=echo bad >&2; exit 3', 'weather please'] },
  { args: ['--tool', 'weather=exit 3', 'weather please'] },
  { args: ['--tool', "weather=printf '\\377\\0x\\r\\n'", 'weather please'] },
  { args: ['--tool', 'weather=head -c 5000000 /dev/zero', 'weather please'] },
  { args: ['--max-iterations', '1', 'calculate 2 + 2'], status: 1 },
  { args: ['--max-iterations', '0', 'calculate 2 + 2'] },
];

for (const { args, status = 0 } of cases) {
  test(`the same log for ${args.join(' ')}`, async () => {
    const logs = new Map();
    for (const engine of engines) {
      const run = await turncore(engine, 'run', [...args, '--json', ...reproducible]);
      assert.equal(run.status, status, `on ${engine}: ${run.stderr}`);
      assert.equal(JSON.parse(run.stdout.trimEnd().split('\n').at(-1)).event, 'end');
      logs.set(run.stdout, engine);
    }
    assert.equal(logs.size, 1, `the logs of ${[...logs.values()].join(', ')} differ`);
  });
}

for (const [args, message] of [
  [['run', '--nothing'], /nothing/],
  [['run', '--seed', 'x', 'hello'], /whole number/],
  [['run', '--model', 'gpt-4o-mini', 'hello'], /needs a provider: set OPENAI_API_KEY/],
  [['replay'], /give one journal/],
]) {
  test(`a wrong command line: ${args.join(' ')}`, async () => {
    for (const engine of engines) {
      const [subcommand, ...rest] = args;
      const run = await turncore(engine, subcommand, rest);
      assert.equal(run.status, 2, `on ${engine}: ${run.stderr}`);
      assert.match(run.stderr, message);
      assert.equal(run.stdout, '');
    }
  });
}
