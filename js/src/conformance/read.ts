/**
 * Steps that call methods of artifacts and media.
 */
import type { SpooledArtifact } from '../index.js';
import type { Frame } from './frame.js';
import { newMedia, part } from './part.js';
import { fields, list, Malformed, str } from './scenario.js';

/** Calls a method of an artifact. */
export function readArtifact(f: Frame, arg: unknown): Promise<unknown> {
  const { of, call, args } = fields(arg, 'of', 'call', 'args');
  const target = part(f.stage, of) as SpooledArtifact;
  const given = args === undefined ? [] : [...list(args)];
  switch (str(call)) {
    case 'head':
      return target.head(...(given as [number]));
    case 'tail':
      return target.tail(...(given as [number]));
    case 'cat':
      return target.cat(...(given as [number, number]));
    case 'grep':
      return target.grep(new RegExp(str(given[0]), 'u'));
    case 'asString':
      return target.asString();
    case 'byteLength':
      return target.byteLength();
    case 'lineCount':
      return target.lineCount();
    case 'estimateTokens':
      return target.estimateTokens(str(given[0]), f.dispatch);
    default:
      throw new Malformed(`an artifact has no method ${str(call)}`);
  }
}

/** Calls a method of a medium. */
export async function readMedia(f: Frame, arg: unknown): Promise<unknown> {
  const { of, call } = fields(arg, 'of', 'call');
  const media = newMedia(f.stage, of);
  switch (str(call)) {
    case 'toJSON':
      return JSON.parse(JSON.stringify(media)) as unknown;
    case 'asBytes':
      return new TextDecoder().decode(await media.asBytes());
    case 'asBase64':
      return media.asBase64();
    case 'byteLength':
      return media.byteLength();
    default:
      throw new Malformed(`a medium has no method ${str(call)}`);
  }
}
