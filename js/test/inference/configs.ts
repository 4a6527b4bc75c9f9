/**
 * What configurations the types refuse. It is compiled, not run.
 */
import {
  ChatExecutor,
  createRunner,
  type DispatchExecutorFn,
  type ModelEngine,
} from '../../src/index.js';

declare const engine: ModelEngine;
const executor: DispatchExecutorFn = (ctx) => ctx.ack();

// What is right compiles.
createRunner({ executor });
createRunner({ executor: new ChatExecutor({ model: 'm', temperature: 0 }) });
createRunner({ model: { model: 'm', apiKey: 'k', temperature: 0 }, schema: { type: 'object' } });
createRunner({ model: { provider: 'anthropic', model: 'm', max_tokens: 5 } });
createRunner({ model: { engine, temperature: 0 } });
createRunner({ model: engine });

// @ts-expect-error neither a model nor an executor
createRunner({});
// @ts-expect-error both a model and an executor
createRunner({ model: { model: 'm' }, executor });
// @ts-expect-error a schema needs a model
createRunner({ executor, schema: { type: 'object' } });
// @ts-expect-error a field that there is not
createRunner({ executor, storage: undefined });
// @ts-expect-error it is spelt temperature
createRunner({ model: { model: 'm', temprature: 1 } });
// @ts-expect-error an option of another provider
createRunner({ model: { provider: 'anthropic', model: 'm', frequency_penalty: 1 } });
// @ts-expect-error a provider that there is not
createRunner({ model: { provider: 'antropic', model: 'm' } });
// @ts-expect-error it is spelt temperature
createRunner({ model: { engine, temprature: 1 } });
// @ts-expect-error it is spelt baseURL
createRunner({ model: { model: 'm', baseUrl: 'http://localhost/v1' } });
// @ts-expect-error it is spelt temperature
export const misspelt = new ChatExecutor({ model: 'm', temprature: 1 });
