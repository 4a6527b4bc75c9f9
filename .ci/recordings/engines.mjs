// The three ways to run a turn from a shell, and the folder of recorded
// provider traffic that lies beside a checkout of this project.
import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const go = resolve(root, 'build/turncore');
// A provider that happens to be set in the environment must not take part.
const { OPENAI_BASE_URL: _url, OPENAI_API_KEY: _key, ...env } = process.env;
const node = [process.execPath, resolve(root, 'js/dist/cli/main.js')];

/** How each engine's command starts: program, fixed arguments, and arguments that choose the engine. */
export const engines = {
  wazero: { command: [go], choose: ['--engine', 'wazero'] },
  native: { command: [go], choose: ['--engine', 'native'] },
  node: { command: node, choose: [] },
};

/** Runs a subcommand on an engine; resolves to its exit status and output, whatever the status is. */
export function turncore(engine, subcommand, args) {
  const { command, choose } = engines[engine];
  const [program, ...first] = command;
  const all = [...first, subcommand, ...choose, ...args];
  return new Promise((done) => {
    const options = {
      cwd: root,
      env,
      encoding: 'utf8',
      maxBuffer: 64 << 20,
      timeout: 120_000,
      killSignal: 'SIGKILL',
    };
    execFile(program, all, options, (error, stdout, stderr) => {
      done({
        status: error ? (error.code ?? error.signal) : 0,
        stdout,
        stderr,
      });
    });
  });
}

/** The recorded conversations: file name without ending, path, and content. */
export function recordings() {
  const folder = resolve(root, process.env.TURNCORE_RECORDINGS ?? '../shared/recordings');
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  if (files.length === 0) throw new Error(`${folder} holds no recording`);
  return files.sort().map((name) => {
    const path = resolve(folder, name);
    return {
      name: name.slice(0, -'.json'.length),
      path,
      content: JSON.parse(readFileSync(path, 'utf8')),
    };
  });
}

/** What makes two runs of the same recording comparable byte by byte. */
export const reproducible = ['--fixed-clock', '--seed', '1'];
