/**
 * Turns that run elsewhere: a server sends their events with `toResponse`, and a client reads them as if they ran here.
 *
 * @packageDocumentation
 */
export { readTurnStream } from '../remote/read-turn-stream.js';
export { RemoteGate } from '../remote/remote-gate.js';
export { type RemoteInput, RemoteRunner } from '../remote/remote-runner.js';
export type { OnDisconnect, TurnResponseOptions } from '../sse/turn-response.js';
export {
  createTurnServer,
  type ServedRunner,
  type TurnServer,
  type TurnServerOptions,
} from '../remote/turn-server.js';
export {
  connect,
  type ConnectOptions,
  type RequestHeaders,
  type ServerInput,
} from '../remote/connect.js';
export { nodeListener, type NodeRequest, type NodeResponse } from '../remote/node-listener.js';
export {
  type BodyMembers,
  type BodyOf,
  checkBody,
  jsonBody,
  type MemberKind,
  type MemberTypes,
} from '../remote/request-body.js';
export { type EventBlock, eventStream, type EventStreamOptions } from '../sse/event-stream.js';
