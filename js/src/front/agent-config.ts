/**
 * Checks the configuration of an ordinary runner, and the input of its turns.
 */
import { turnInputRules, turnRunnerConfigRules, type TypeRules } from '../abi/rules.gen.js';
import { toText } from '../primitives/tokenizable.js';
import { tokenizerViolations } from '../primitives/tokenizers.js';
import { toExecutor } from '../chat/chat-executor.js';
import { Host, hostViolations } from '../host/host.js';
import { isTool } from '../tools/is-tool.js';
import { inputClasses, pipelineNames } from '../runners/turn-runner.js';
import { isAbortSignal, isAbsent, isObject } from '../validation/field-kinds.js';
import { requirePlaces } from '../validation/pipelines.js';
import { check, type Checked, phrase, unknownField } from '../validation/rules.js';
import { suggest } from '../validation/suggest.js';

const {
  tools,
  tokenizers,
  host,
  turnInputPipeline,
  turnOutputPipeline,
  dispatchInputPipeline,
  dispatchOutputPipeline,
  wrapTool,
  wrapModel,
} = turnRunnerConfigRules.fields;

const configRules: TypeRules = {
  title: turnRunnerConfigRules.title,
  code: turnRunnerConfigRules.code,
  fields: {
    model: { kind: 'object' },
    executor: { kind: 'executor' },
    schema: { kind: 'any' },
    store: { kind: 'object' },
    whenBusy: { kind: 'string', enum: ['queue', 'refuse'] },
    system: { kind: 'text', nonEmpty: true },
    tools,
    bounds: { kind: 'object' },
    turnInputPipeline,
    turnOutputPipeline,
    dispatchInputPipeline: { ...dispatchInputPipeline, aliases: [] },
    dispatchOutputPipeline: { ...dispatchOutputPipeline, aliases: [] },
    wrapTool,
    wrapModel,
    tokenizers,
    host,
  },
  cross: [{ rule: 'exactlyOne', field: 'model', other: 'executor' }],
};

const inputRules: TypeRules = {
  ...turnInputRules,
  fields: {
    ...turnInputRules.fields,
    systemPrompt: { ...turnInputRules.fields.systemPrompt, required: false },
    sessionId: { kind: 'string' },
    signal: { kind: 'instance', class: 'AbortSignal' },
  },
};

const configClasses = {
  text: toText,
  executor: toExecutor,
  instances: { Tool: isTool },
  also: (config: Checked, found: readonly string[]) => {
    const more = [
      ...schemaViolations(config),
      ...keyViolations(config),
      ...storeViolations(config['store']),
      ...boundsViolations(config['bounds']),
      ...hostViolations({ host: config['host'] }),
    ];
    return [...more, ...tokenizerViolations(config['tokenizers'], [...found, ...more])];
  },
};

/**
 * Checks a configuration. Null fields are omitted.
 *
 * @throws TurncoreError E_INVALID_TURN_RUNNER_CONFIG listing every violation
 */
export function checkConfig(config: unknown): Checked {
  const values = check(configRules, config, configClasses);
  requirePlaces('E_INVALID_TURN_RUNNER_CONFIG', values, pipelineNames);
  return values;
}

/**
 * Checks the additional fields of an ordinary turn's input; the turn checks the others.
 *
 * @throws TurncoreError E_INVALID_TURN_CONTEXT listing every violation
 */
export function requireInput(input: unknown): void {
  if (isObject(input)) {
    const { sessionId, signal, turnAbortController } = input;
    const known = Object.keys(input).every((name) => Object.hasOwn(inputRules.fields, name));
    const own = known && (sessionId === undefined || typeof sessionId === 'string');
    if (own && signal === undefined) return;
    if (own && isAbortSignal(signal) && turnAbortController === undefined) return;
  }
  check(inputRules, input, {
    ...inputClasses,
    instances: { ...inputClasses.instances, AbortSignal: isAbortSignal },
  });
}

function schemaViolations({ model, schema }: Checked): string[] {
  if (isAbsent(schema)) return [];
  if (isAbsent(model)) return ['`schema` needs a `model`'];
  if (!isObject(model) || isAbsent(model['schema'])) return [];
  return ['`schema` and `model.schema` exclude each other'];
}

function keyViolations({ model, host: given }: Checked): string[] {
  if (!isObject(model)) return [];
  // The module checks the other options of a model. It knows nothing of keys.
  const violations = Object.keys(model)
    .filter((name) => name !== 'apiKey' && suggest(name, ['apiKey']) !== undefined)
    .map((name) => unknownField('model.', name, ['apiKey']));
  const key = model['apiKey'];
  if (isAbsent(key)) return violations;
  if (typeof key !== 'string' || key === '') {
    violations.push(phrase('nonEmpty', { field: 'model.apiKey' }));
  }
  if (!isAbsent(model['credential'])) {
    violations.push('`model.apiKey` and `model.credential` exclude each other');
  }
  if (given instanceof Host) {
    violations.push('a shared host takes no `model.apiKey`; name a `credential` of it');
  }
  return violations;
}

function storeViolations(store: unknown): string[] {
  if (!isObject(store)) return [];
  return ['load', 'commit', 'putBytes', 'openBytes', 'newest']
    .filter(
      (name) => typeof store[name] !== 'function' && !(name === 'newest' && isAbsent(store[name])),
    )
    .map((name) => phrase('function', { field: `store.${name}` }));
}

function boundsViolations(bounds: unknown): string[] {
  if (!isObject(bounds)) return [];
  const { maxIterations: most, ...others } = bounds;
  const violations = Object.keys(others).map((name) =>
    unknownField('bounds.', name, ['maxIterations']),
  );
  if (isAbsent(most) || most === false || (Number.isInteger(most) && (most as number) > 0)) {
    return violations;
  }
  return [...violations, '`bounds.maxIterations` must be a whole number from 1, or false'];
}
