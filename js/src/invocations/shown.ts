/**
 * What models are asked. Requests of a session share what they have in common: each content crosses from the module once.
 */
import { toModelRequest, type RequestArgs } from '../codec/tuples.gen.js';
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
}

/** The contents that the models of an agent were shown of a session. */
export class ShownContents {
  #list: Content[] = [];
  /** Names them for the module. */
  #mark = 0;

  /**
   * Asks what a model is asked.
   *
   * @param tools whether the tools are wanted
   * @param ask makes the call of the module
   */
  read(tools: boolean, ask: (args: RequestArgs) => unknown): RequestParts {
    for (;;) {
      const args = { have: this.#list.length, mark: this.#mark, tools };
      const part = toModelRequest(ask(args));
      const { instructions, from, total, mark } = part;
      // Earlier requests keep their list.
      if (from < this.#list.length) this.#list = this.#list.slice(0, from);
      this.#mark = mark;
      const list = this.#list;
      const more = part.contents as Content[];
      for (const content of more) list.push(freeze(content));
      if (list.length >= total || more.length === 0) {
        const given = (part.tools ?? undefined) as ToolDescription[] | undefined;
        return { instructions, contents: list, count: list.length, tools: freeze(given) };
      }
    }
  }
}
