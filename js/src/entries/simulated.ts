/**
 * A model provider that needs no network and no key: it speaks OpenAI's chat completions and answers by simple rules.
 * It calls a tool that the user's text mentions, with arguments found in that text, reports a tool's answer, and
 * otherwise repeats the text. The same request gets the same answer, also from its twin in the Go module.
 *
 * @packageDocumentation
 */
export { SIMULATED_MODEL } from '../simulated/answer.js';
export { simulatedFetch } from '../simulated/fetch.js';
export type { SimulatedProviderOptions } from '../simulated/pause.js';
export {
  type ProviderRequest,
  type ProviderResponse,
  type RequestHandler,
  simulatedProvider,
} from '../simulated/provider.js';
