/**
 * Artifacts that hold JSON.
 */
import { invalidValue } from '../errors.js';
import type { SpoolReader } from './readers.js';
import { jsonForm, type SizeHints, SpooledArtifact } from './spooled-artifact.js';

/** The form of JSON: one value, or one value per line; `json5` is one value in the more lenient notation. */
export type JsonForm = 'json' | 'jsonl' | 'ndjson' | 'json5';

const forms: readonly string[] = ['json', 'jsonl', 'ndjson', 'json5'] satisfies JsonForm[];

/**
 * An artifact that holds JSON. In addition to the tools of every artifact, a model gets the tools `artifact_json_…`,
 * which read by JSONPath.
 */
export class SpooledJsonArtifact extends SpooledArtifact {
  static override readonly className: string = 'SpooledJsonArtifact';

  static override readonly readerTools: readonly string[] = [
    'artifact_json_type',
    'artifact_json_keys',
    'artifact_json_length',
    'artifact_json_get',
    'artifact_json_filter',
    'artifact_json_slice',
    'artifact_json_pluck',
    ...SpooledArtifact.readerTools,
  ];

  /** The form of the JSON; undefined if not given. */
  readonly form: JsonForm | undefined;
  /** @internal */
  override readonly [jsonForm]: string | undefined;

  /**
   * @param form the form of the JSON; without it the reader tools detect it
   * @throws TurncoreError E_NOT_A_SPOOL_READER, E_INVALID_VALUE
   */
  constructor(reader: SpoolReader, hints?: SizeHints, form?: JsonForm) {
    super(reader, hints);
    if (form !== undefined && !forms.includes(form)) {
      throw invalidValue('form', `must be one of ${forms.join(', ')}`);
    }
    this.form = form;
    this[jsonForm] = form;
  }
}
