/**
 * Storage: writes as a store sees them, stores of bytes, and readers of bytes that lie elsewhere.
 *
 * @packageDocumentation
 */
export type {
  DeleteDelta,
  MutateDelta,
  ReplaceGroupDelta,
  StoreDelta,
} from '../collections/deltas.js';
export {
  type ByteStore,
  type MediaStore,
  MemoryMediaStore,
  MemorySpoolStore,
  type SpoolStore,
} from '../store/byte-store.js';
export {
  blobReader,
  type ByteSource,
  fileReader,
  RangeReader,
  type ReadableFile,
} from '../readers/range-reader.js';
export type { SessionOptions } from '../store/store-callbacks.js';
export type { Conversation } from '../sessions/conversation.js';
export type {
  AddedArtifact,
  Append,
  Appender,
  Artifact,
  EventQuery,
  ForkPoint,
  SessionEvent,
  StateChange,
  StateValue,
} from '../store/appender.js';
export { NO_REVISION } from '../store/appender.js';
export type { Journal, JournalAppend, JournalCompaction, JournalPart } from '../store/journal.js';
export type {
  BytesReader,
  Commit,
  PageOptions,
  SessionInfo,
  SessionPage,
  Sessions,
} from '../store/store.js';
export {
  type ConduitBytes,
  isMediaReader,
  isSpoolReader,
  type MediaReader,
  type ReaderDescription,
  type SpoolReader,
} from '../primitives/readers.js';
