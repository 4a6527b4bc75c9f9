/**
 * Readers of what is in memory.
 */
import type { MediaReader, SpoolReader } from '../entries/stores.js';
import type { Script } from './scenario.js';
import { then } from './then.js';

/** A reader of a stored text, as records and scripts use it. */
export function reader(text: string): SpoolReader & MediaReader {
  const lines = text === '' ? [] : text.split('\n');
  return {
    readAll: () => text,
    line: (n: number) => lines[n],
    lineCount: () => lines.length,
    byteLength: () => new TextEncoder().encode(text).length,
    stream: () => new Blob([text]).stream(),
  };
}

/** A reader whose methods do what scripts say; what a script returns takes the place of the method's own answer. */
export function scriptedReader(
  text: string,
  scripts: Readonly<Record<string, Script>>,
  call: (by: string, script: Script) => unknown,
): SpoolReader & MediaReader {
  const own = reader(text);
  const method =
    (name: string, answer: (arg: never) => unknown) =>
    (arg: never): unknown => {
      const script = scripts[name];
      if (script === undefined) return answer(arg);
      return then(call(`reader ${name}`, script), (got) => {
        if (got === undefined) return answer(arg);
        return name === 'stream' && typeof got === 'string' ? new Blob([got]).stream() : got;
      });
    };
  return Object.fromEntries(
    Object.entries(own).map(([name, answer]) => [name, method(name, answer as never)]),
  ) as unknown as SpoolReader & MediaReader;
}
