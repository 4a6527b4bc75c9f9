/**
 * Reads command lines.
 */
import { parseArgs, type ParseArgsConfig } from 'node:util';

import { baseURLOf, providerNames } from '../chat/providers.js';
import type { ProviderName } from '../chat/options.gen.js';
import { SIMULATED_MODEL } from '../simulated/answer.js';
import { UsageError } from './usage.js';
import { VARIABLES } from './variables.gen.js';

/** The environment of the process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The choice of the module. */
export interface EngineOptions {
  /** File with a module; undefined for the package's own. */
  readonly module: string | undefined;
}

/** A program that is offered as a tool. */
export interface ProgramToolOptions {
  readonly name: string;
  readonly description: string;
  /** A command line of the shell. */
  readonly program: string;
}

/** The settings of a run, from the command line and the environment. */
export interface RunOptions extends EngineOptions {
  /** Undefined to read it from standard input. */
  readonly prompt: string | undefined;
  /** Undefined for the simulated one. */
  readonly provider: ProviderName | undefined;
  /** Undefined for the simulated provider. */
  readonly baseURL: string | undefined;
  /** The endpoint's key. */
  readonly key: string | undefined;
  readonly model: string | undefined;
  readonly system: string | undefined;
  readonly tools: readonly ProgramToolOptions[];
  /** False for no bound, undefined for the default one. */
  readonly maxIterations: number | false | undefined;
  readonly json: boolean;
  readonly verbose: boolean;
  readonly fixedClock: boolean;
  readonly seed: number | undefined;
  /** File for the journal. */
  readonly log: string | undefined;
  /** File of a database; undefined for memory. */
  readonly store: string | undefined;
  /** Name of the conversation in the store. */
  readonly session: string | undefined;
}

const engineFlags = {
  engine: { type: 'string' },
  module: { type: 'string' },
} as const;

const help = { help: { type: 'boolean', short: 'h' } } as const;

const runFlags = {
  ...engineFlags,
  ...help,
  'base-url': { type: 'string' },
  model: { type: 'string' },
  provider: { type: 'string' },
  system: { type: 'string' },
  tool: { type: 'string', multiple: true },
  'max-iterations': { type: 'string' },
  json: { type: 'boolean' },
  verbose: { type: 'boolean' },
  'fixed-clock': { type: 'boolean' },
  seed: { type: 'string' },
  log: { type: 'string' },
  store: { type: 'string' },
  session: { type: 'string' },
} as const;

/** Reads the command line of a run. Returns undefined if it asks for help. @throws UsageError */
export function parseRun(args: string[], env: Environment): RunOptions | undefined {
  const { values, positionals } = parse('run', args, runFlags);
  if (values.help === true) return undefined;
  for (const name of ['base-url', 'model', 'provider', 'log', 'store', 'session'] as const) {
    if (values[name] === '') throw wrong(`--${name}: it is empty`);
  }
  if (values.session !== undefined && values.store === undefined) {
    throw wrong('--session names a conversation in a --store: give one');
  }
  return {
    prompt: promptOf(positionals),
    ...endpointOf(values, env),
    system: values.system,
    tools: programTools(values.tool ?? []),
    module: engineOf('run', values).module,
    maxIterations: boundOf(values['max-iterations']),
    json: values.json === true,
    verbose: values.verbose === true,
    fixedClock: values['fixed-clock'] === true,
    seed: seedOf(values.seed),
    log: values.log,
    store: values.store,
    session: values.session,
  };
}

/** Reads the command line of a replay. Returns undefined if it asks for help. @throws UsageError */
export function parseReplay(args: string[]): (EngineOptions & { file: string }) | undefined {
  const { values, positionals } = parse('replay', args, { ...engineFlags, ...help });
  if (values.help === true) return undefined;
  return { ...engineOf('replay', values), file: journalOf('replay', positionals) };
}

/** The settings of an inspection. */
export interface InspectOptions {
  readonly file: string;
  readonly json: boolean;
  readonly verbose: boolean;
}

/** Reads the command line of an inspection. Returns undefined if it asks for help. @throws UsageError */
export function parseInspect(args: string[]): InspectOptions | undefined {
  const flags = { ...help, json: { type: 'boolean' }, verbose: { type: 'boolean' } } as const;
  const { values, positionals } = parse('inspect', args, flags);
  if (values.help === true) return undefined;
  const file = journalOf('inspect', positionals);
  return { file, json: values.json === true, verbose: values.verbose === true };
}

/** What can be done with conversations, with the fewest and the most names. */
const ACTIONS = {
  list: [0, 0],
  show: [1, 1],
  export: [1, 1],
  import: [0, 1],
  delete: [1, Infinity],
} as const;

/** The settings of "turncore sessions". */
export interface SessionsOptions {
  readonly action: keyof typeof ACTIONS;
  /** Of conversations; of import the file. */
  readonly names: readonly string[];
  /** File of the database. */
  readonly file: string;
  /** Name of an imported conversation; undefined for the document's own. */
  readonly as: string | undefined;
  readonly json: boolean;
}

/** Reads the command line of "sessions". Returns undefined if it asks for help. @throws UsageError */
export function parseSessions(args: string[]): SessionsOptions | undefined {
  const { values, positionals } = parse('sessions', args, {
    ...help,
    store: { type: 'string' },
    session: { type: 'string' },
    json: { type: 'boolean' },
  });
  if (values.help === true) return undefined;
  const [name, ...names] = positionals;
  const { store, session, json = false } = values;
  const known = name !== undefined && Object.hasOwn(ACTIONS, name);
  const action = name as keyof typeof ACTIONS;
  const [least, most] = known ? ACTIONS[action] : [0, Infinity];
  const problem = [
    [name === undefined, 'give an action: list, show, export, import or delete'],
    [!known, `"${name}" is no action: list, show, export, import or delete`],
    [names.length < least, `${name} needs the name of a conversation`],
    [names.length > most, `${name} does not take ${names.length} names`],
    [store === undefined, 'give the database with --store'],
    [store === '', '--store: it is empty'],
    [session !== undefined && action !== 'import', '--session is for import'],
    [session === '', '--session: it is empty'],
    [json && action !== 'list' && action !== 'show', '--json is for list and show'],
  ].find(([is]) => is);
  if (problem !== undefined) throw new UsageError('sessions', problem[1] as string);
  return { action, names, file: store!, as: session, json };
}

function parse<O extends NonNullable<ParseArgsConfig['options']>>(
  command: string,
  args: string[],
  options: O,
) {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: true });
  } catch (error) {
    throw new UsageError(command, (error as Error).message);
  }
}

function wrong(message: string): UsageError {
  return new UsageError('run', message);
}

function engineOf(
  command: string,
  values: { engine?: string | undefined; module?: string | undefined },
): EngineOptions {
  const { engine, module } = values;
  if (engine !== undefined && engine !== 'node') {
    const other = engine === 'wazero' || engine === 'native';
    const hint = other ? '; the Go command has it' : '';
    throw new UsageError(command, `there is no engine "${engine}" on this host, only node${hint}`);
  }
  if (module === '') throw new UsageError(command, '--module: it is empty');
  return { module };
}

function journalOf(command: string, positionals: readonly string[]): string {
  const [file] = positionals;
  if (file !== undefined && positionals.length === 1) return file;
  throw new UsageError(command, `give one journal, not ${positionals.length}`);
}

function promptOf(positionals: readonly string[]): string | undefined {
  if (positionals.length > 1) {
    throw wrong(`${positionals.length} prompts are given; put the prompt in quotes`);
  }
  if (positionals[0] === '') throw wrong('the prompt is empty');
  return positionals[0];
}

/** The default model of an endpoint that speaks OpenAI's protocols. */
const DEFAULT_MODEL = 'gpt-4o-mini';

/** The provider's address from the environment. */
function addressOf(provider: ProviderName, env: Environment): string | undefined {
  const { baseURL, version, host } = VARIABLES[provider];
  const given = orUndefined(env[(host ?? baseURL)!]);
  if (given === undefined) return undefined;
  if (host !== undefined) return hostAddress(provider, trimSlashes(given.trim()));
  if (version === undefined) return given;
  const address = orUndefined(trimSlashes(given));
  return address === undefined || address.endsWith(version) ? address : address + version;
}

/** The address for a variable's value: a host, with or without a port, or an address. */
function hostAddress(provider: ProviderName, host: string): string | undefined {
  if (host === '' || host.includes('://')) return orUndefined(host);
  const colon = host.indexOf(':');
  const name = colon < 0 ? host : host.slice(0, colon);
  const port = colon < 0 ? new URL(baseURLOf(provider)!).port : host.slice(colon + 1);
  // A server that listens on all interfaces can be reached on this machine.
  return `http://${name === '' || name === '0.0.0.0' ? '127.0.0.1' : name}:${port}`;
}

function trimSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end--;
  return text.slice(0, end);
}

/** The model and its endpoint. The environment supplies what the command line leaves open. */
function endpointOf(
  values: Readonly<Partial<Record<'provider' | 'base-url' | 'model', string | undefined>>>,
  env: Environment,
): Pick<RunOptions, 'provider' | 'baseURL' | 'key' | 'model'> {
  const variable = (name: string | undefined): string | undefined =>
    name === undefined ? undefined : orUndefined(env[name]);
  const { model } = values;
  let provider = values.provider === undefined ? undefined : providerOf(values.provider);
  if (provider === undefined) {
    if (values['base-url'] === undefined && variable('OPENAI_BASE_URL') === undefined) {
      const name = model ?? variable('OPENAI_MODEL') ?? SIMULATED_MODEL;
      if (name === SIMULATED_MODEL) {
        return { provider, baseURL: undefined, key: undefined, model: name };
      }
      if (variable('OPENAI_API_KEY') === undefined) {
        throw wrong(
          `the model "${name}" needs a provider: set OPENAI_API_KEY, or give --provider or --base-url`,
        );
      }
    }
    provider = 'openai';
  }
  const names = VARIABLES[provider];
  const openAI = names.model !== undefined;
  const chosen = model ?? variable(names.model) ?? (openAI ? DEFAULT_MODEL : undefined);
  if (chosen === undefined) throw wrong(`--provider ${provider} needs a --model`);
  const url = values['base-url'] ?? addressOf(provider, env) ?? baseURLOf(provider);
  const key = variable(names.key);
  if (names.key !== undefined && key === undefined && url === baseURLOf(provider)) {
    throw wrong(
      `${provider} needs a key: set ${names.key}, or give the --base-url of an endpoint that needs none`,
    );
  }
  return { provider, baseURL: checkedURL(url!), key, model: chosen };
}

/** The provider of a name; "responses" is short for openai-responses. */
function providerOf(name: string): ProviderName {
  const full = name === 'responses' ? 'openai-responses' : name;
  const known = providerNames.find((other) => other === full);
  if (known === undefined) throw wrong(`--provider: it must be one of ${providerNames.join(', ')}`);
  return known;
}

function checkedURL(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw wrong('the base URL must be one of http or https');
}

function boundOf(text: string | undefined): number | false | undefined {
  if (text === undefined) return undefined;
  const n = wholeNumber('max-iterations', text, 0x7ffffffe);
  return n === 0 ? false : n;
}

function seedOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : wholeNumber('seed', text, 0xffffffff);
}

function wholeNumber(flag: string, text: string, max: number): number {
  const n = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(n <= max)) throw wrong(`--${flag}: it must be a whole number up to ${max}`);
  return n;
}

/** The tool names that endpoints accept. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

function programTools(specs: readonly string[]): ProgramToolOptions[] {
  const tools: ProgramToolOptions[] = [];
  for (const spec of specs) {
    const [, name, description, program] = /^([^:=]*)(?::([^=]*))?=(.*)$/s.exec(spec) ?? [];
    if (name === undefined || program === undefined || program.trim() === '') {
      throw wrong('--tool: it must be NAME=CMD or NAME:DESCRIPTION=CMD');
    }
    if (!TOOL_NAME.test(name)) {
      throw wrong("--tool: a tool's name has 1 to 64 letters, digits, _ and -");
    }
    if (tools.some((tool) => tool.name === name)) {
      throw wrong('--tool: there is another tool of that name');
    }
    tools.push({
      name,
      description: orUndefined(description) ?? `Runs the program ${name}.`,
      program,
    });
  }
  return tools;
}

/** An empty variable counts as unset. */
function orUndefined(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
