// The ways to run a turn from a shell, and the folder of recorded provider traffic that lies beside a checkout of this
// project.
import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const go = resolve(root, 'build/turncore');
const npm = resolve(root, 'js/dist/cli/main.js');
// A provider that happens to be set in the environment must not take part.
const { OPENAI_BASE_URL: _url, OPENAI_API_KEY: _key, OPENAI_MODEL: _model, ...env } = process.env;

/** The engines that run turns and replay journals: the Go command's, and that of the npm package's. */
export const engines = ['wazero', 'native', 'node'];

/** Those that recordings are played on, all by the Go command. */
export const players = [...engines, 'chromium'];

/** Runs a subcommand on an engine; resolves to its exit status and output, whatever the status is. */
export function turncore(engine, subcommand, args) {
  if (engine === 'node') return start(process.execPath, [npm, subcommand, ...args]);
  return start(go, [subcommand, '--engine', engine, ...args]);
}

/** Plays a recording on an engine; resolves as {@link turncore}. */
export function play(engine, recording, args = []) {
  const all = ['run', '--engine', engine, '--recording', recording, '--json', ...reproducible];
  return start(go, [...all, ...args]);
}

function start(program, args) {
  return new Promise((done) => {
    const options = {
      cwd: root,
      env,
      encoding: 'utf8',
      maxBuffer: 64 << 20,
      timeout: 120_000,
      killSignal: 'SIGKILL',
    };
    execFile(program, args, options, (error, stdout, stderr) => {
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
