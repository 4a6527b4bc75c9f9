// A model that needs no network and no key: the package's simulated provider.

/** @param pause milliseconds between two words */
export async function simulatedModel(pause) {
  const provider = new URL('../../../js/dist/entries/simulated.js', import.meta.url);
  const { simulatedProvider, SIMULATED_MODEL } = await import(provider);
  return {
    name: SIMULATED_MODEL,
    live: false,
    description: 'simulated (set OPENAI_API_KEY for a live one)',
    answer: simulatedProvider({ pauseMs: pause }),
  };
}
