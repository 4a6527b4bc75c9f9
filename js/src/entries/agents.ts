/**
 * Agents that other people wrote: a file with the core and an author's code is loaded with a grant, and can do nothing
 * that the grant does not name. docs/agents.md tells more.
 *
 * @packageDocumentation
 */
export { Agent, type AgentOptions, type GrantedModel, loadAgent } from '../agents/load.js';
export { MAX_AGENT_BYTES } from '../agents/opened-agent.js';
export { serveAgent, type ServeAgentOptions } from '../agents/serve-agent.js';
export {
  AGENT_STEP_TIMEOUT,
  WorkerAgent,
  type WorkerAgentOptions,
} from '../agents/worker-agent.js';
export { meterAgent } from '../agents/metered.js';
export { explain } from '../agents/explain.js';
export { type Missing, missing } from '../agents/asks.js';
export {
  DEFAULT_AGENT_QUOTA,
  type Grant,
  type GrantCredential,
  readGrant,
} from '../agents/grant.js';
export {
  type AgentMiddleware,
  type AgentQuota,
  type ManifestTool,
  type Ask,
  type AskCredential,
  type AskOrigin,
  type Asks,
  type Manifest,
  parseManifest,
  readManifest,
} from '../agents/manifest.js';
