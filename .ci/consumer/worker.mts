// A Worker that imports a module as the package's README says. It is compiled only: Node does not import modules so.
import { createRunner, type TurnRunner } from 'turncore';
import core from 'turncore/turncore.wasm';
import full from 'turncore/turncore-full.wasm';
import go from 'turncore/turncore-js.wasm';

export const modules: readonly WebAssembly.Module[] = [core, full, go];

export const runners = modules.map((module) =>
  createRunner({ executor: (ctx) => ctx.ack(), host: { module } }),
);

// @ts-expect-error A module is no runner: the import has a type that says what it is.
export const runner: TurnRunner = core;
