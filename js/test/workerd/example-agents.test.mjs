// The example agents give the event logs in workerd that they give in Go.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { example, names } from '../agents/examples.mjs';
import { dist } from '../smoke/package-folder.mjs';
import { startWorkerd } from './start.mjs';

for (const name of names) {
  test(`the example agent ${name} in workerd`, async () => {
    const { file, grant, play, log } = await example(name);
    const { meterAgent } = await import(new URL('entries/agents.js', dist));
    const folder = await mkdtemp(join(tmpdir(), 'turncore-agent-'));
    const module = join(folder, 'agent.wasm');
    await writeFile(module, meterAgent(file));
    const workerd = await startWorkerd('127.0.0.1:9', {
      worker: 'example-agent.worker.mjs',
      module,
    });
    try {
      const response = await fetch(workerd.address, {
        method: 'POST',
        body: JSON.stringify({ grant, play }),
      });
      const said = await response.text();
      assert.equal(response.status, 200, said + workerd.stderr());
      assert.equal(said, log);
    } finally {
      await workerd.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });
}
