// The file of an agent for tests: the core with a manifest, metered ahead for platforms that compile nothing.
import { readFile } from 'node:fs/promises';

import { dist } from './package-folder.mjs';

/** A number in LEB128. */
const leb = (n) => (n < 0x80 ? [n] : [(n & 0x7f) | 0x80, ...leb(n >>> 7)]);

/** The bytes of an agent that asks for an origin and for a log. */
export async function agentFile() {
  const core = await readFile(new URL('turncore.wasm', dist));
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(core));
  const manifest = {
    manifest: 1,
    name: 'smoke',
    version: '1.0.0',
    description: 'Is loaded in tests.',
    turncore: '',
    imports: [...new Set(imports.map(({ module, name }) => `${module}.${name}`))].sort(),
    tools: [],
    options: null,
    executor: false,
    middleware: [],
    asks: { http: [{ origin: 'https://a.example', why: 'to read' }], log: 300 },
  };
  const name = Buffer.from('turncore.agent');
  const text = Buffer.from(JSON.stringify(manifest));
  const section = Buffer.concat([Buffer.from(leb(name.length)), name, text]);
  return Buffer.concat([core, Buffer.from([0, ...leb(section.length)]), section]);
}

/** What Node says of an agent that {@link playAgent} plays. */
export async function inNode(playAgent, file) {
  return await playAgent(await import(new URL('entries/agents.js', dist)), file);
}
