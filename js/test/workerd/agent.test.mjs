// The same agent with the same grants in workerd as in Node: the same refusals, the same events, the same limits.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { agentFile, inNode } from '../smoke/agent-file.mjs';
import { playAgent } from '../smoke/granted-agent.mjs';
import { dist } from '../smoke/package-folder.mjs';
import { startWorkerd } from './start.mjs';

test('an agent in workerd is held to its grant as in Node', async () => {
  const file = await agentFile();
  const { meterAgent } = await import(new URL('entries/agents.js', dist));
  const folder = await mkdtemp(join(tmpdir(), 'turncore-agent-'));
  const module = join(folder, 'agent.wasm');
  await writeFile(module, meterAgent(file));
  const workerd = await startWorkerd('127.0.0.1:9', { worker: 'agent.worker.mjs', module });
  try {
    const response = await fetch(workerd.address);
    assert.equal(response.status, 200, workerd.stderr());
    const said = await response.json();
    assert.deepEqual(said, await inNode(playAgent, file));
    assert.ok(
      said.some((line) => line.startsWith('aborted E_AGENT_LIMIT')),
      said.join('\n'),
    );
    assert.match(said[0], /E_AGENT_NOT_GRANTED/);
  } finally {
    await workerd.stop();
    await rm(folder, { recursive: true, force: true });
  }
});
