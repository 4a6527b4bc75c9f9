/**
 * Checks what a runner is configured with.
 */
import { AgentKind } from '../abi/frames.gen.js';
import { invocationError } from '../session-errors.js';
import { isTool } from '../tools/is-tool.js';
import { wrongStateName } from '../validation/state-name.js';
import { typos } from '../validation/suggest.js';
import {
  AgentTool,
  BaseAgent,
  configOf,
  kindOf,
  LlmAgent,
  type LlmAgentConfig,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
} from './agents.js';
import { isData, unknownNames } from './names.js';
import type { SessionService } from './session-service.js';
import type { SessionTool } from './tools.js';

const CALLBACKS = ['beforeAgentCallback', 'afterAgentCallback'];
const BASE = ['name', 'description', 'subAgents', ...CALLBACKS];
const MODEL_CALLBACKS = [
  'beforeModelCallback',
  'afterModelCallback',
  'onModelErrorCallback',
  'beforeToolCallback',
  'afterToolCallback',
  'onToolErrorCallback',
];

/** The members of the configurations of the agents that are not custom. A class of their users may have more. */
const KNOWN: readonly (readonly [made: unknown, names: readonly string[]])[] = [
  [
    LlmAgent,
    [
      ...BASE,
      ...MODEL_CALLBACKS,
      'model',
      'instruction',
      'globalInstruction',
      'tools',
      'longRunningTools',
      'confirmTools',
      'outputKey',
      'includeContents',
      'disallowTransferToParent',
      'disallowTransferToPeers',
    ],
  ],
  [SequentialAgent, BASE],
  [ParallelAgent, BASE],
  [LoopAgent, [...BASE, 'maxIterations']],
];

/** The members of a runner's configuration. */
const RUNNER = [
  'appName',
  'agent',
  'sessionService',
  'store',
  'plugins',
  'maxModelCalls',
  'whenBusy',
  'compaction',
  'host',
];

/** The members of a tool that is a plain object. */
const TOOL = [
  'name',
  'description',
  'inputSchema',
  'jsonSchema',
  'isLongRunning',
  'requireConfirmation',
  'runAsync',
];

/** What is wrong with a configuration. */
class Checks {
  readonly wrong: string[] = [];
  /** Several agents may have one as a tool. */
  readonly #seen = new Set<BaseAgent>();

  refuse(field: string, why: string): void {
    this.wrong.push(`${field}: ${why}`);
  }

  /** @throws TurncoreError E_INVALID_AGENT if something is wrong */
  end(): void {
    const { wrong } = this;
    if (wrong.length === 0) return;
    throw invocationError('E_INVALID_AGENT', wrong.join('; '), { details: wrong });
  }

  /** Refuses the members of a configuration that are not known. @param prefix ends with a dot, or is empty */
  known(prefix: string, given: object, known: readonly string[]): void {
    for (const [name, why] of unknownNames(given, known)) this.refuse(`${prefix}${name}`, why);
  }

  /** Whether a value is a function, or nothing. */
  callback(field: string, given: unknown): void {
    if (given === undefined || given === null || typeof given === 'function') return;
    if (!Array.isArray(given)) this.refuse(field, 'must be a function');
    else given.forEach((item: unknown, i) => this.one(`${field}[${i}]`, item));
  }

  one(field: string, given: unknown): void {
    if (typeof given !== 'function') this.refuse(field, 'must be a function');
  }

  /** The elements of a list, if it is one. */
  list(field: string, given: unknown): readonly unknown[] {
    if (given === undefined || given === null) return [];
    if (Array.isArray(given)) return given;
    this.refuse(field, 'must be a list');
    return [];
  }

  agent(field: string, agent: unknown): void {
    if (!(agent instanceof BaseAgent)) {
      this.refuse(field, 'must be an agent');
      return;
    }
    if (this.#seen.has(agent)) return;
    this.#seen.add(agent);
    const config = agent[configOf] as unknown as Record<string, unknown>;
    const known = KNOWN.find(([made]) => made === agent.constructor)?.[1];
    if (known !== undefined) this.known(`${field}.`, config, known);
    if (typeof agent.name !== 'string') this.refuse(`${field}.name`, 'must be a non-empty string');
    if (typeof agent.description !== 'string') {
      this.refuse(`${field}.description`, 'must be a string');
    }
    for (const name of CALLBACKS) this.callback(`${field}.${name}`, config[name]);
    if (agent[kindOf] === AgentKind.LLM) this.#model(field, config as never);
    agent.subAgents.forEach((child, i) => this.agent(`${field}.subAgents[${i}]`, child));
  }

  #model(field: string, config: LlmAgentConfig): void {
    for (const name of MODEL_CALLBACKS) {
      this.callback(`${field}.${name}`, (config as unknown as Record<string, unknown>)[name]);
    }
    if (typeof config.model !== 'function' && !isData(config.model)) {
      this.refuse(`${field}.model`, 'must be the options of a model, an engine, or a function');
    }
    for (const name of ['instruction', 'globalInstruction'] as const) {
      const given: unknown = config[name];
      if (given === undefined || given === null) continue;
      if (typeof given !== 'string' && typeof given !== 'function') {
        this.refuse(`${field}.${name}`, 'must be a text or a function');
      }
    }
    const { outputKey }: { readonly outputKey?: unknown } = config;
    if (outputKey !== undefined && outputKey !== null && outputKey !== '') {
      const text = typeof outputKey === 'string';
      const why = text ? wrongStateName(outputKey) : 'must be a string';
      if (why !== undefined) this.refuse(`${field}.outputKey`, why);
    }
    this.list(`${field}.tools`, config.tools).forEach((tool, i) => {
      const at = `${field}.tools[${i}]`;
      if (tool instanceof AgentTool) this.agent(`${at}.agent`, tool.agent);
      else this.#tool(at, tool);
    });
    const names = toolNames(config);
    for (const name of ['longRunningTools', 'confirmTools'] as const) {
      for (const tool of this.list(`${field}.${name}`, config[name])) {
        if (!names.includes(tool)) {
          this.refuse(`${field}.${name}`, `there is no tool ${JSON.stringify(tool)}`);
        }
      }
    }
  }

  #tool(field: string, tool: unknown): void {
    if (!isData(tool)) {
      this.refuse(field, 'must be a tool');
      return;
    }
    if (tool instanceof BaseAgent) {
      this.refuse(field, 'must be a tool: make one of the agent with AgentTool');
      return;
    }
    const {
      requireConfirmation: asks,
      isLongRunning: waits,
      runAsync,
    } = tool as Partial<SessionTool>;
    if (!isTool(tool)) {
      // An object of a class may have more.
      if (isPlain(tool)) this.known(`${field}.`, tool, TOOL);
      if (typeof runAsync !== 'function') this.refuse(`${field}.runAsync`, 'must be a function');
    }
    // What is neither would have a tool run that nobody has confirmed.
    if (asks !== undefined && typeof asks !== 'boolean' && typeof asks !== 'function') {
      this.refuse(`${field}.requireConfirmation`, 'must be a boolean or a function');
    }
    if (waits !== undefined && typeof waits !== 'boolean') {
      this.refuse(`${field}.isLongRunning`, 'must be a boolean');
    }
  }
}

/** Whether a value is an object of no class. */
function isPlain(value: object): boolean {
  const of: unknown = Object.getPrototypeOf(value);
  return of === Object.prototype || of === null;
}

/** The names of an object's functions, those of its class too. No getter runs. */
function functionNames(value: object): Set<string> {
  const names = new Set<string>();
  let at: object | null = value;
  for (; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at) as object | null) {
    for (const [name, { value: given }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (typeof given === 'function' && name !== 'constructor') names.add(name);
    }
  }
  return names;
}

/** The hook that a function of a plugin is likely meant to be: one with `Callback` in its name, or a typing error. */
function hookMeant(name: string, hooks: readonly string[]): string | undefined {
  const bare = name.replace(/Callback$/u, '').toLowerCase();
  return hooks.find((hook) => typos(bare, hook.toLowerCase()) <= 1);
}

function toolNames({ tools }: LlmAgentConfig): unknown[] {
  const list: readonly unknown[] = Array.isArray(tools) ? tools : [];
  return list.map((tool) => (tool as { readonly name?: unknown } | null | undefined)?.name);
}

/**
 * Checks a tree of agents and the plugins around it.
 *
 * @param hooks the names of what a plugin may have
 * @throws TurncoreError E_INVALID_AGENT, whose details list what is wrong
 */
export function checkTeam(
  appName: unknown,
  root: unknown,
  plugins: unknown,
  hooks: readonly string[],
): void {
  const checks = new Checks();
  if (typeof appName !== 'string' || appName === '') {
    checks.refuse('appName', 'must be a non-empty string');
  }
  checks.agent('agent', root);
  checks.list('plugins', plugins).forEach((plugin, i) => {
    const at = `plugins[${i}]`;
    if (!isData(plugin)) {
      checks.refuse(at, 'must be a plugin');
      return;
    }
    for (const hook of hooks) {
      const given = (plugin as Record<string, unknown>)[hook];
      if (given !== undefined) checks.one(`${at}.${hook}`, given);
    }
    // A plugin has what it likes besides hooks, and what helps a hook is named like it.
    for (const name of functionNames(plugin)) {
      const meant = hooks.includes(name) ? undefined : hookMeant(name, hooks);
      if (meant === undefined || name.startsWith('_') || meant in plugin) continue;
      checks.refuse(`${at}.${name}`, `is not a hook; did you mean ${meant}?`);
    }
  });
  checks.end();
}

/** Checks the names in a runner's configuration. @throws TurncoreError E_INVALID_AGENT, which lists the unknown ones */
export function checkRunner(config: unknown): void {
  const checks = new Checks();
  if (isData(config)) {
    checks.known('', config, RUNNER);
    const { sessionService, store } = config as Record<string, unknown>;
    const service = (sessionService ?? undefined) as Partial<SessionService> | undefined;
    if (service !== undefined && typeof service.load !== 'function') {
      checks.refuse('sessionService', 'must be a SessionService');
    } else if (service !== undefined && (store ?? service.store) !== service.store) {
      checks.refuse('store', 'the session service has a store of its own');
    }
  } else checks.refuse('config', 'must be an object');
  checks.end();
}
