/**
 * Puts a manifest into a module.
 */

/** A number in LEB128. */
const leb = (n) => (n < 0x80 ? [n] : [(n & 0x7f) | 0x80, ...leb(n >>> 7)]);

/** The file of an agent that brings nothing. @param asks what it asks for */
export function withManifest(module, asks = {}) {
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(module));
  const manifest = {
    manifest: 1,
    name: 'bare',
    version: '1.0.0',
    description: 'Brings nothing.',
    turncore: '',
    imports: [...new Set(imports.map((each) => `${each.module}.${each.name}`))].sort(),
    tools: [],
    options: null,
    executor: false,
    middleware: [],
    asks,
  };
  const text = new TextEncoder().encode(JSON.stringify(manifest));
  const name = new TextEncoder().encode('turncore.agent');
  const body = [...leb(name.length), ...name, ...text];
  return Uint8Array.from([...module, 0, ...leb(body.length), ...body]);
}
