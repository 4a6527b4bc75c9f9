/**
 * Builds the Go guests of the tests, once for each test process.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runInThisContext } from 'node:vm';
import type { GoRuntime } from '../../src/instance/gojs.js';

const run = promisify(execFile);

/** The top of the checkout, where go.mod is. */
export const root = findRoot();

function findRoot(): URL {
  for (let folder = new URL('./', import.meta.url); ; folder = new URL('../', folder)) {
    if (existsSync(new URL('go.mod', folder))) return folder;
    if (folder.pathname === '/') throw new Error('these tests run inside the checkout');
  }
}

/**
 * Builds a Go package as a module.
 *
 * @param packagePath from the top of the checkout, such as `./js/test/guest`
 * @param goos wasip1 for a reactor
 * @param tags build tags, such as `full`
 */
export async function buildGuest(
  packagePath: string,
  goos: 'wasip1' | 'js' = 'wasip1',
  tags = '',
): Promise<Uint8Array<ArrayBuffer>> {
  const folder = await mkdtemp(join(tmpdir(), 'turncore-guest-'));
  try {
    const file = join(folder, 'guest.wasm');
    await run(
      'go',
      [
        'build',
        ...(goos === 'wasip1' ? ['-buildmode=c-shared'] : []),
        '-ldflags=-s -w',
        `-tags=${tags}`,
        '-o',
        file,
        packagePath,
      ],
      {
        cwd: root,
        env: { ...process.env, GOOS: goos, GOARCH: 'wasm' },
      },
    );
    return new Uint8Array(await readFile(file));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Why there is no Go to build guests with; undefined if there is. On CI its absence is a failure. */
export async function missingGo(): Promise<string | undefined> {
  try {
    await run('go', ['version']);
    return undefined;
  } catch (error) {
    if (process.env['CI'] === 'true') throw error;
    return 'Go is not installed, so the guest of this test cannot be built';
  }
}

/** The class Go of the loader that belongs to the Go that is installed. */
export async function loadGoRuntime(): Promise<GoRuntime> {
  const { stdout } = await run('go', ['env', 'GOROOT']);
  const text = await readFile(join(stdout.trim(), 'lib/wasm/wasm_exec.js'), 'utf8');
  runInThisContext(text);
  return (globalThis as unknown as { Go: GoRuntime }).Go;
}

/** What the test guest is asked to do; the numbers of guest/main.go. */
export const Order = {
  Panic: 0,
  Exit: 1,
  Deadlock: 2,
  Sleep: 3,
  Recurse: 4,
  Flood: 5,
  Print: 6,
  Grow: 7,
  FarOutbox: 8,
  LongOutbox: 9,
  Garbage: 10,
  KeepMarker: 11,
  Env: 12,
  Clock: 13,
  Random: 14,
} as const;

/** The step input for an order. */
export function order(number: number): Uint8Array {
  return Uint8Array.of(0x92, 100, number);
}
