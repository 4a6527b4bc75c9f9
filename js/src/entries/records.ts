/**
 * Records in detail: what their constructors take, histories and sets of them, artifacts and texts.
 *
 * @packageDocumentation
 */
export type { Metadata } from '../primitives/body.js';
export type { RawIdentity } from '../primitives/identity.js';
export type { RawMemory } from '../primitives/memory.js';
export type { RawMessage, Role } from '../primitives/message.js';
export type { RawRetrievable } from '../primitives/retrievable.js';
export type { TrustTier } from '../primitives/trust-tier.js';
export type {
  MediaKind,
  MediaParts,
  MediaStashEntry,
  ModalityHazard,
  RawMedia,
} from '../primitives/media.js';
export {
  type ArtifactClass,
  isArtifactClass,
  type SizeHints,
} from '../primitives/spooled-artifact.js';
export type { AnyArtifactClass } from '../validation/artifact-class.js';
export type { JsonForm } from '../primitives/spooled-json-artifact.js';
export {
  type ArtifactHandle,
  type HandleRenderer,
  renderHandle,
} from '../primitives/artifact-handle.js';
export type { RawThought } from '../primitives/thought.js';
export type { Timestamp } from '../primitives/timestamp.js';
export type { TextEvaluator, TextSource } from '../primitives/tokenizable.js';
export type { Tokenizer } from '../primitives/tokenizers.js';
export type { RawToolCall, ToolCallResults } from '../primitives/tool-call.js';
export { type AsText, RecordSet } from '../collections/record-set.js';
export {
  type AnyRecord,
  History,
  type HistoryKind,
  type RecordOfKind,
} from '../collections/history.js';
export type { RecordName } from '../collections/deltas.js';
export type { Entry } from '../collections/kinds.js';
export {
  bytesOf,
  decodeRecord,
  encodeRecord,
  type ReadOptions,
  recordFromJSON,
  recordToJSON,
} from '../stored/codec.js';
export { type BytesStore, readRow, type Row, rowsOf, sumOf } from '../stored/rows.js';
export {
  type BytesOf,
  type BytesReference,
  type OpenBytes,
  openedBy,
  type StoredBytes,
  StoredReader,
} from '../stored/stored-reader.js';
export {
  type ConversationDocument,
  type DocumentBytes,
  type DocumentStore,
  exportConversation,
  importConversation,
} from '../stored/document.js';
