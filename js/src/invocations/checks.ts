/**
 * Checks what a runner is configured with.
 */
import { AgentKind } from '../abi/frames.gen.js';
import { invocationError } from '../session-errors.js';
import { wrongStateName } from '../validation/state-name.js';
import { suggest } from '../validation/suggest.js';
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
import { isData } from './event.js';
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

/** What is wrong with a configuration. */
class Checks {
  readonly wrong: string[] = [];
  /** Several agents may have one as a tool. */
  readonly #seen = new Set<BaseAgent>();

  refuse(field: string, why: string): void {
    this.wrong.push(`${field}: ${why}`);
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
    for (const name of known === undefined ? [] : Object.keys(config)) {
      if (known!.includes(name)) continue;
      const meant = suggest(name, known!);
      const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
      this.refuse(`${field}.${name}`, `is not a known field${hint}`);
    }
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
    const { requireConfirmation: asks, isLongRunning: waits } = tool as Partial<SessionTool>;
    // What is neither would have a tool run that nobody has confirmed.
    if (asks !== undefined && typeof asks !== 'boolean' && typeof asks !== 'function') {
      this.refuse(`${field}.requireConfirmation`, 'must be a boolean or a function');
    }
    if (waits !== undefined && typeof waits !== 'boolean') {
      this.refuse(`${field}.isLongRunning`, 'must be a boolean');
    }
  }
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
  });
  if (checks.wrong.length === 0) return;
  throw invocationError('E_INVALID_AGENT', checks.wrong.join('; '), { details: checks.wrong });
}
