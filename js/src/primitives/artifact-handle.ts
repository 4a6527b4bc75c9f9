/**
 * Handles: the text that a model sees instead of an artifact.
 */

/** Describes an artifact in its handle. */
export interface ArtifactHandle {
  /** Names the artifact to the reader tools. */
  readonly id: string;
  /** Name of its class. */
  readonly kind: string;
  /** Bytes of its text. */
  readonly byteLength: number;
  /** Lines of its text. */
  readonly lineCount: number;
  /** Names of the tools that read it. */
  readonly tools: readonly string[];
}

/** Writes the text that stands for an artifact in a prompt. */
export type HandleRenderer = (handle: ArtifactHandle) => string;

/** The text that stands for an artifact in a prompt: its kind, its size, and how to read it. */
export const renderHandle: HandleRenderer = ({ id, kind, byteLength, lineCount, tools }) =>
  `Artifact ${id} (${kind}, ${byteLength} bytes, ${lineCount} lines). Its text is not shown here. ` +
  `Read it with callId ${JSON.stringify(id)} and one of: ${tools.join(', ')}.`;
