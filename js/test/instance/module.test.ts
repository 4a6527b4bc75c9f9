import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { runInNewContext } from 'node:vm';
import { Encoder } from '../../src/codec/encoder.js';
import { loadModule, type Module } from '../../src/instance/module.js';
import { isTurncoreError, type TurncoreError } from '../../src/errors.js';
import { assemble, i32, i64, type SmallFunction, type SmallModule } from './wasm-builder.js';
import { startNow } from './start-now.js';

const OUTBOX = 0;
const INBOX = 4096;

function welcome(limits: readonly number[] = [0, 0, 0, 0, 0, 0], op = 33): Uint8Array {
  const e = new Encoder();
  e.value([op, 2, 0, 0, limits, [0, 0], 'small', ['openai']], 'welcome');
  return e.copy();
}

/** A module that answers every step with what its data holds. */
function small(
  change: Partial<SmallModule> & { functions?: Record<string, SmallFunction> } = {},
): SmallModule {
  const data = change.data ?? welcome();
  return {
    memory: 'memory',
    data,
    ...change,
    exports: {
      _initialize: { body: [] },
      turncore_abi: { results: ['i32'], body: i32(0x20000) },
      turncore_inbox: { params: ['i32'], results: ['i32'], body: i32(INBOX) },
      turncore_step: {
        params: ['i32'],
        results: ['i64'],
        // Resets the marker at INBOX + size, then returns the outbox.
        body: [
          ...[0x20, 0, ...i32(INBOX), 0x6a, ...i32(0), 0x3a, 0, 0],
          ...i64((BigInt(OUTBOX) << 32n) | BigInt(data.length)),
        ],
      },
      ...change.functions,
    },
  };
}

async function failure(module: Module): Promise<TurncoreError> {
  try {
    await module.instantiate();
  } catch (error) {
    assert.ok(isTurncoreError(error), String(error));
    return error;
  }
  assert.fail('the module was accepted');
}

describe('loadModule', () => {
  it('takes bytes, a view, a compiled module of any realm, a response, a promise', async () => {
    const bytes = assemble(small());
    const padded = new Uint8Array(bytes.length + 8);
    padded.set(bytes, 8);
    const compiled = await WebAssembly.compile(bytes);
    const foreign = (await runInNewContext('WebAssembly.compile(bytes)', {
      WebAssembly,
      bytes,
    })) as WebAssembly.Module;
    const response = (type: string): Response =>
      new Response(bytes, { headers: { 'content-type': type } });
    const sources = [
      bytes,
      bytes.buffer,
      padded.subarray(8),
      compiled,
      foreign,
      response('application/wasm'),
      response('application/octet-stream'),
      Promise.resolve(response('text/html')),
    ];
    for (const source of sources) {
      const instance = await loadModule(source).instantiate();
      assert.equal(instance.build, 'small');
      assert.equal(instance.abi, 0x20000);
    }
  });

  it('reads files by path and by URL', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'turncore-module-'));
    try {
      const file = join(folder, 'small.wasm');
      const bytes = assemble(small());
      await writeFile(file, bytes);
      const want = createHash('sha256').update(bytes).digest('hex');
      for (const source of [file, pathToFileURL(file), pathToFileURL(file).href]) {
        const module = loadModule(source);
        assert.equal((await module.instantiate()).build, 'small');
        assert.equal(await module.hash(), want);
      }
      const lost = await failure(loadModule(join(folder, 'lost.wasm')));
      assert.equal(lost.code, 'E_INVALID_MODULE');
      assert.match(lost.message, /lost\.wasm.*ENOENT/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('fetches over HTTP whatever the type, and reports the status', async () => {
    const bytes = assemble(small());
    const server = createServer((request, response) => {
      if (request.url === '/gone') response.writeHead(404).end('no');
      else
        response
          .writeHead(200, request.url === '/typed' ? { 'content-type': 'application/wasm' } : {})
          .end(bytes);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      for (const source of [
        `${base}/typed`,
        new URL('/untyped', base),
        new Request(`${base}/typed`),
      ]) {
        assert.equal((await loadModule(source).instantiate()).build, 'small');
      }
      const gone = await failure(loadModule(`${base}/gone`));
      assert.match(gone.message, /HTTP status 404/);
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
    assert.match((await failure(loadModule(`${base}/typed`))).message, /cannot fetch/);
  });

  it('reads nothing before it is needed, and compiles once', async () => {
    const module = loadModule('/no/such/file.wasm');
    assert.throws(() => startNow(module), /not compiled yet/);
    const compiled = loadModule(assemble(small()));
    assert.equal(await compiled.compile(), await compiled.compile());
    assert.ok(startNow(compiled).alive);
    const given = loadModule(await compiled.compile());
    assert.ok(startNow(given).alive);
    assert.equal(await given.hash(), '');
  });

  it('tries again after a failure', async () => {
    let answers = 0;
    const bytes = assemble(small());
    const flaky = {
      then(done: (v: Uint8Array<ArrayBuffer>) => void) {
        done(answers++ === 0 ? Uint8Array.of(1, 2, 3) : bytes);
      },
    } as unknown as PromiseLike<BufferSource>;
    const module = loadModule(flaky);
    assert.match((await failure(module)).message, /cannot compile/);
    assert.ok((await module.instantiate()).alive);
  });

  it('refuses anything that is not WebAssembly', async () => {
    for (const source of [new Uint8Array(0), new TextEncoder().encode('<!doctype html>')]) {
      const error = await failure(loadModule(source));
      assert.equal(error.code, 'E_INVALID_MODULE');
      assert.equal(error.fatal, true);
    }
    const odd = await failure(loadModule({}));
    assert.match(odd.message, /it is given as Object/);
  });
});

describe('the contract of a module', () => {
  it('names each missing export', async () => {
    for (const name of [
      'memory',
      '_initialize',
      'turncore_abi',
      'turncore_inbox',
      'turncore_step',
    ]) {
      const m = small();
      const exports = Object.fromEntries(Object.entries(m.exports).filter(([n]) => n !== name));
      const memory = name === 'memory' ? undefined : 'memory';
      const error = await failure(loadModule(assemble({ ...m, memory, exports })));
      assert.equal(error.code, 'E_INVALID_MODULE');
      assert.ok(error.message.includes(`"${name}"`), error.message);
      assert.deepEqual(error.details, { missing: [name] });
    }
    const none = await failure(loadModule(assemble({ exports: {} })));
    assert.deepEqual((none.details as { missing: string[] }).missing.length, 5);
  });

  it('wants functions where functions belong', async () => {
    const m = small();
    const exports = Object.fromEntries(
      Object.entries(m.exports).filter(([n]) => n !== 'turncore_step'),
    );
    const error = await failure(loadModule(assemble({ ...m, memory: 'turncore_step', exports })));
    assert.match(error.message, /memory "memory".*function "turncore_step"/);
  });

  it('names unknown imports', async () => {
    const imports = [
      ['env', 'evil'],
      ['wasi_snapshot_preview1', 'path_open'],
    ] as const;
    const error = await failure(loadModule(assemble(small({ imports }))));
    assert.equal(error.code, 'E_INVALID_MODULE');
    assert.match(error.message, /env\.evil, wasi_snapshot_preview1\.path_open/);
  });

  it('wants functions of the right types', async () => {
    const step = await failure(
      loadModule(
        assemble(
          small({
            functions: { turncore_step: { params: ['i32'], results: ['i32'], body: i32(0) } },
          }),
        ),
      ),
    );
    assert.equal(step.code, 'E_INVALID_MODULE');
    assert.match(
      step.message,
      /turncore_step has type \[i32\] -> \[i32\] instead of \[i32\] -> \[i64\]/,
    );
    const imports = [['wasi_snapshot_preview1', 'sched_yield']] as const;
    const wasi = await failure(loadModule(assemble(small({ imports }))));
    assert.equal(wasi.code, 'E_INVALID_MODULE');
    assert.match(wasi.message, /sched_yield with type \[\] -> \[\] instead of \[\] -> \[i32\]/);
  });

  it('refuses what Go’s linker does not make, and memory beyond the bound', async () => {
    const table = [0x70, 0, 1];
    const cases: [Partial<SmallModule>, RegExp][] = [
      [{ tables: [table, table] }, /it has 2 tables/],
      [
        { tables: [[0x70, 0, 0xff, 0xff, 0xff, 0xff, 0xf]] },
        /it has a table of 4294967295 entries/,
      ],
      [{ tables: [[0x6f, 0, 1]] }, /it has a table of type 0x6f/],
      [{ globals: 65 }, /it has 65 globals/],
      [{ types: [[0x5f, 0]] }, /it has a type of kind 0x5f/],
      [{ limits: [3, 1, 1] }, /it has a memory of kind 3/],
      [{ limits: [0, 0x81, 0x80, 1] }, /its memory begins with 16385 pages, more than 16384/],
    ];
    for (const [change, pattern] of cases) {
      const bytes = assemble(small(change));
      const headers = { 'content-type': 'application/wasm' };
      for (const source of [bytes, new Response(bytes, { headers })]) {
        const error = await failure(loadModule(source));
        assert.equal(error.code, 'E_INVALID_MODULE');
        assert.match(error.message, pattern);
      }
    }
  });

  it('bounds memory and table while a step runs', async () => {
    const answer = small().exports['turncore_step']!.body;
    const grow = [...i32(1000), 0x40, 0, 0x1a]; // memory.grow, drop
    // ref.null func, table.grow, i32.ne, if: unreachable
    const growTable = [
      0xd0,
      0x70,
      ...i32(1000),
      0xfc,
      15,
      0,
      ...i32(-1),
      0x47,
      0x04,
      0x40,
      0,
      0x0b,
    ];
    const bytes = assemble(
      small({
        tables: [[0x70, 0, 1]],
        functions: {
          turncore_step: {
            params: ['i32'],
            results: ['i64'],
            body: [...grow, ...growTable, ...answer],
          },
        },
      }),
    );
    const headers = { 'content-type': 'application/wasm' };
    const module = loadModule(new Response(bytes, { headers }));
    const small1 = await module.instantiate({ maxMemory: 1 << 20 });
    assert.equal(small1.memoryBytes, 64 << 10);
    const large = await module.instantiate({ maxMemory: 128 << 20 });
    assert.equal(large.memoryBytes, 1001 * (64 << 10));
  });

  it('names both versions when the major differs, and takes a newer minor', async () => {
    const version = (v: number): SmallModule =>
      small({ functions: { turncore_abi: { results: ['i32'], body: i32(v) } } });
    for (const [v, text] of [
      [0x10003, '1.3'],
      [0x00001, '0.1'],
      [0xffff0000, '65535.0'],
    ] as const) {
      const error = await failure(loadModule(assemble(version(v))));
      assert.equal(error.code, 'E_ABI_VERSION');
      assert.ok(
        error.message.includes(`ABI ${text}`) && error.message.includes('2.0'),
        error.message,
      );
      assert.match(error.message, /deploy the module and the JavaScript of one version/);
    }
    const newer = await loadModule(assemble(version(0x20007))).instantiate();
    assert.equal(newer.abi, 0x20007);
  });

  it('says why an instance died at its start', async () => {
    const unreachable = { body: [0x00] };
    const error = await failure(
      loadModule(assemble(small({ functions: { _initialize: unreachable } }))),
    );
    assert.equal(error.code, 'E_INSTANCE_FAILED');
    assert.match(error.message, /unreachable/);
  });

  it('refuses a bad answer to Hello', async () => {
    const fault = new Encoder();
    fault.value([41, 0, 'E_ABI_VERSION', 'wrong', 0], 'fault');
    const bad: [Uint8Array, RegExp][] = [
      [new Uint8Array(0), /nothing instead of Welcome/],
      [fault.copy(), /frame 41 \(E_ABI_VERSION: wrong\) instead of Welcome/],
      [welcome([1, 2, 3]), /Limits: a tuple of 6 elements is expected, there are 3/],
      [welcome([-1, 0, 0, 0, 0, 0]), /Limits: the integer is out of range/],
      [welcome(undefined, 34), /Reply: a tuple of 5 elements is expected, there are 8/],
      [Uint8Array.of(0xc1), /not a frame at byte 0/],
      [Uint8Array.from([...welcome(), ...welcome()]), /instead of Welcome/],
    ];
    for (const [data, pattern] of bad) {
      const error = await failure(loadModule(assemble(small({ data }))));
      assert.equal(error.code, 'E_INSTANCE_FAILED');
      assert.match(error.message, pattern);
    }
  });

  it('refuses an answer that is too long before it is copied', async () => {
    const step = small().exports['turncore_step']!;
    const body = [...step.body.slice(0, -i64(BigInt(welcome().length)).length), ...i64(50331649n)];
    const functions = { turncore_step: { ...step, body } };
    const error = await failure(loadModule(assemble(small({ limits: [0, 0x80, 8], functions }))));
    assert.equal(error.code, 'E_INSTANCE_FAILED');
    assert.match(error.message, /the step gave 50331649 bytes, more than 50331648/);
  });

  it('agrees on the lower limits', async () => {
    const module = loadModule(assemble(small({ data: welcome([1 << 30, 0, 100, 32, 7, 9]) })));
    const instance = await module.instantiate({
      limits: { depth: 16, array: 200, frame: 1 << 20 },
    });
    assert.deepEqual(instance.limits, {
      frame: 1 << 20,
      string: 16 << 20,
      array: 100,
      depth: 16,
      turnEffects: 7,
      instanceEffects: 9,
    });
    await assert.rejects(module.instantiate({ limits: { depth: 0 } }), RangeError);
  });
});
