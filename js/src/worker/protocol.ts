/**
 * The messages between a page and its worker. On the worker's own channel they only find each other: `who`, `ready`,
 * `hello` with a port. Everything else goes through that port.
 */
import type { ObjectSchema } from '../tools/tool.js';
import type { AttachmentForm } from './attachment-form.js';
import type { Packed } from './cloning.js';

/** Grows with each change that the other side would not understand. */
export const PROTOCOL = 5;

/** A message on the worker's own channel, which the program's own messages share. */
export type Greeting =
  | { readonly turncore: 'who' | 'ready' }
  | {
      readonly turncore: 'hello';
      readonly protocol: number;
      readonly port: MessagePort;
      readonly tools: readonly PageToolForm[];
      /** Name of the lock that the worker holds while it lives; undefined where there are no locks. */
      readonly lock: string | undefined;
      /** The agent that the worker is to load; undefined for a worker that has a runner of its own. */
      readonly agent: AgentForm | undefined;
    };

/** An agent, on its way to the worker that loads it. */
export interface AgentForm {
  readonly file: Uint8Array<ArrayBuffer> | WebAssembly.Module;
  /** Its grant, and what the page adds to it. */
  readonly given: Packed;
}

/** A tool of the page, without its handler. */
export interface PageToolForm {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly trusted: boolean;
}

/** What a page sends. Turns and calls are named by numbers of the connection. */
export type PageMessage =
  | {
      readonly op: 'start';
      readonly turn: number;
      readonly input: Packed;
      readonly attachments: readonly AttachmentForm[] | undefined;
    }
  | { readonly op: 'abort'; readonly turn: number; readonly reason: Packed }
  | {
      readonly op: 'settle';
      readonly call: number;
      readonly turnId: string;
      readonly gateId: string;
      readonly by: 'resolve' | 'reject' | 'abort';
      /** The value or the error. */
      readonly value: Packed;
      readonly digest: string;
    }
  /** Whether the thread answers. */
  | { readonly op: 'ping' }
  | Answer;

/** What a worker sends. */
export type ServerMessage =
  | { readonly op: 'welcome'; readonly locked: boolean }
  | { readonly op: 'refused'; readonly error: Packed }
  | { readonly op: 'pong' }
  | { readonly op: 'events'; readonly turn: number; readonly events: readonly Packed[] }
  | { readonly op: 'end'; readonly turn: number; readonly end: Packed }
  /** The turn did not start. */
  | { readonly op: 'rejected'; readonly turn: number; readonly error: Packed }
  | {
      readonly op: 'call';
      readonly call: number;
      readonly tool: string;
      readonly key: string;
      readonly args: Packed;
    }
  | { readonly op: 'cancel'; readonly call: number; readonly reason: Packed }
  | Answer;

/** The answer to a call of the other side. */
export type Answer =
  | { readonly op: 'result'; readonly call: number; readonly value: Packed }
  | { readonly op: 'failed'; readonly call: number; readonly error: Packed };
