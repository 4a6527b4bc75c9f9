/**
 * What models are asked. Requests of a session share what they have in common: each content crosses from the module
 * once.
 */
import { type ModelRequest, type RequestArgs, toModelRequest } from '../codec/tuples.gen.js';
import { wrongFrame } from '../codec/decoder.js';
import type { ToolDescription } from '../tools/tool.js';
import type { Content } from './content.js';
import { freeze } from './event.js';

/** What the model of a step is asked. */
export interface RequestParts {
  readonly instructions: string;
  /** Begins with the contents; others may follow. */
  readonly contents: readonly Content[];
  /** How many contents there are. */
  readonly count: number;
  /** The tools, if they were asked for. */
  readonly tools: readonly ToolDescription[] | undefined;
  /** Whether the next request of the agent may go on from this one. */
  readonly isKept: boolean;
}

/** The contents that the models of an agent were shown of a session. */
export class ShownContents {
  #list: Content[] = [];
  /** Names them for the module. */
  #mark = 0;

  /** What is kept, as the module is told of it. */
  get kept(): { readonly have: number; readonly mark: number } {
    return { have: this.#list.length, mark: this.#mark };
  }

  /**
   * Asks what a model is asked.
   *
   * @param tools whether the tools are wanted
   * @param ask makes the call of the module
   * @throws CodecError for a part that does not follow what is kept
   */
  read(tools: boolean, ask: (args: RequestArgs) => unknown): RequestParts {
    for (;;) {
      const before = this.#list.length;
      const request = this.take(toModelRequest(ask({ ...this.kept, tools })));
      if (request !== undefined) return request;
      if (this.#list.length <= before) throw wrongFrame('a request without an end');
    }
  }

  /** Takes a part of what a model is asked, from what is kept on. @returns undefined if there is more to ask for */
  take(part: ModelRequest): RequestParts | undefined {
    const { instructions, from, total, mark } = part;
    const more = part.contents as Content[];
    for (const content of more) freeze(content);
    const tools = freeze((part.tools ?? undefined) as ToolDescription[] | undefined);
    if (mark === 0) {
      return { instructions, contents: more, count: more.length, tools, isKept: false };
    }
    if (from > this.#list.length) return undefined;
    // Earlier requests keep their list.
    if (from < this.#list.length) this.#list = this.#list.slice(0, from);
    this.#mark = mark;
    const list = this.#list;
    for (const content of more) list.push(content);
    if (list.length < total && more.length > 0) return undefined;
    return { instructions, contents: list, count: list.length, tools, isKept: true };
  }
}
