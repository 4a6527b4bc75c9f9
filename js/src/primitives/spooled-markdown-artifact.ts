/**
 * Artifacts that hold Markdown.
 */
import { SpooledArtifact } from './spooled-artifact.js';

/**
 * An artifact that holds Markdown. In addition to the tools of every artifact, the full module gives a model the
 * tools `artifact_md_…`, which read headings, sections, code blocks and links.
 */
export class SpooledMarkdownArtifact extends SpooledArtifact {
  static override readonly className: string = 'SpooledMarkdownArtifact';

  static override readonly readerTools: readonly string[] = [
    'artifact_md_frontmatter',
    'artifact_md_headings',
    'artifact_md_code_blocks',
    'artifact_md_sections',
    'artifact_md_links',
    'artifact_md_images',
    'artifact_md_text',
    'artifact_md_ast',
    ...SpooledArtifact.readerTools,
  ];
}
