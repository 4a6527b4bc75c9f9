/**
 * Artifacts that hold JSON.
 */
import { invalidValue } from '../errors.js';
import type { SpoolReader } from './readers.js';
import { jsonForm, type SizeHints, SpooledArtifact } from './spooled-artifact.js';

/** How JSON is laid out: one value, or one a line; `json5` is one value in the more lenient notation. */
export type JsonForm = 'json' | 'jsonl' | 'ndjson' | 'json5';

const forms: readonly string[] = ['json', 'jsonl', 'ndjson', 'json5'] satisfies JsonForm[];

/**
 * An artifact that holds JSON. Beside the tools of every artifact a model gets those that begin with `artifact_json_`,
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

  /** How the JSON is laid out; undefined if that was not said. */
  readonly form: JsonForm | undefined;
  /** @internal */
  override readonly [jsonForm]: string | undefined;

  /**
   * @param form how the JSON is laid out; without it the reader tools find out
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
