/**
 * Artifacts that hold Markdown.
 */
import { SpooledArtifact } from './spooled-artifact.js';

/**
 * An artifact that holds Markdown. Beside the tools of every artifact a model gets those that begin with `artifact_md_`,
 * which read headings, sections, code blocks and links.
 */
export class SpooledMarkdownArtifact extends SpooledArtifact {
  static override readonly className: string = 'SpooledMarkdownArtifact';
}
