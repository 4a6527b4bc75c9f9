/**
 * Handles: what a model is shown in place of an artifact.
 */

/** What a handle says of an artifact. */
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

/** The text that stands for an artifact in a prompt: what it is, how large, and how to read it. */
export const renderHandle: HandleRenderer = ({ id, kind, byteLength, lineCount, tools }) =>
  `Artifact ${id} (${kind}, ${byteLength} bytes, ${lineCount} lines). Its text is not shown here. ` +
  `Read it with callId ${JSON.stringify(id)} and one of: ${tools.join(', ')}.`;
