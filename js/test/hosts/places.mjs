// Hosts that have more than one place for a program: a page and its worker, a Worker and its Durable Object.

/**
 * What a host has played in several places, as one.
 *
 * @param played by the name of the place, '' for the host itself
 */
export function together(played) {
  const places = Object.entries(played);
  return {
    passed: places.flatMap(([place, { passed }]) =>
      passed.map((part) => (place === '' ? part : `${part} in a ${place}`)),
    ),
    failures: places.flatMap(([place, { failures }]) =>
      failures.map((failure) => (place === '' ? failure : `${place}: ${failure}`)),
    ),
    /** Milliseconds of the first part in the first place. */
    ms: places[0][1].ms,
    logs: places.map(([, { log }]) => log).filter((log) => log !== undefined),
  };
}
