/**
 * The ways on which a page and its worker send messages.
 */
import { invalidValue } from '../errors.js';

/**
 * A worker, or a port: the `Worker` of a page, of Deno or Bun, the one of `node:worker_threads`, and a `MessagePort`.
 */
export interface WorkerChannel {
  postMessage(message: unknown, transfer: never[]): void;
  addEventListener?(type: string, listener: (event: unknown) => void): void;
  removeEventListener?(type: string, listener: (event: unknown) => void): void;
  on?(type: string, listener: (value: unknown) => void): unknown;
  off?(type: string, listener: (value: unknown) => void): unknown;
  start?(): void;
  close?(): void;
  terminate?(): unknown;
}

/** @throws TurncoreError E_INVALID_VALUE unless a value is a channel. @param field its name */
export function requireChannel(value: unknown, field: string): WorkerChannel {
  const { postMessage, addEventListener, on } = (value ?? {}) as Partial<WorkerChannel>;
  const listens = typeof addEventListener === 'function' || typeof on === 'function';
  if (typeof postMessage === 'function' && listens) return value as WorkerChannel;
  throw invalidValue(field, 'must be a Worker or a MessagePort');
}

/**
 * Listens to events of a channel: gives the data of messages, and everything else as it comes.
 *
 * @returns a function that ends it
 */
export function listen(
  channel: WorkerChannel,
  type: string,
  call: (value: unknown) => void,
): () => void {
  if (channel.addEventListener !== undefined) {
    const heard = (event: unknown): void =>
      call(type === 'message' ? (event as MessageEvent<unknown>).data : event);
    channel.addEventListener(type, heard);
    return () => channel.removeEventListener?.(type, heard);
  }
  channel.on?.(type, call);
  return () => void channel.off?.(type, call);
}

interface WorkerScope {
  readonly document?: unknown;
  readonly postMessage?: unknown;
  readonly process?: {
    getBuiltinModule?(name: string): { readonly parentPort?: WorkerChannel | null } | undefined;
  };
}

/**
 * The worker's own way to the page that made it.
 *
 * @throws TurncoreError E_INVALID_VALUE where there is none
 */
export function ownChannel(): WorkerChannel {
  const scope = globalThis as WorkerScope;
  if (scope.document === undefined) {
    // First: in a worker of node:worker_threads, Bun gives messages to this port only.
    const parent = scope.process?.getBuiltinModule?.('node:worker_threads')?.parentPort;
    if (parent !== undefined && parent !== null) return parent;
    if (typeof scope.postMessage === 'function') return globalThis as unknown as WorkerChannel;
  }
  throw invalidValue('channel', 'must be a MessagePort: this is no worker with a page of its own');
}

/** The platform's locks; undefined where it has none, or does not give them to this page. */
export function locksOf(): LockManager | undefined {
  return (globalThis as { navigator?: { locks?: LockManager } }).navigator?.locks;
}
