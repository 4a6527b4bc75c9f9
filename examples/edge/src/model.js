// The model that the settings name.

/**
 * A live model with a key, otherwise the simulated one, which needs no network.
 *
 * @param env the host's settings; the README names them
 * @returns the model, and for the simulated one the pause between two words in milliseconds
 */
export function modelFrom(env) {
  if (env.OPENAI_API_KEY) {
    return {
      model: {
        model: env.OPENAI_MODEL || 'gpt-4o-mini',
        apiKey: env.OPENAI_API_KEY,
        baseURL: env.OPENAI_BASE_URL || undefined,
      },
    };
  }
  const model = { baseURL: 'http://simulated/v1', model: 'simulated' };
  return { model, pauseMs: Number(env.PAUSE_MS || 30) };
}
