/**
 * How peers are timed: as Turncore's turns are, one operation to a sample, after a warm-up.
 */

/**
 * @param prepare what is done before each sample and not timed
 * @returns median, 10th and 90th percentile in microseconds
 */
export async function sample(count, operation, prepare = async () => undefined) {
  const samples = [];
  for (let i = -Math.ceil(count / 5); i < count; i++) {
    const prepared = await prepare();
    const start = performance.now();
    await operation(prepared);
    if (i >= 0) samples.push((performance.now() - start) * 1e3);
  }
  samples.sort((a, b) => a - b);
  const at = (q) => samples[Math.floor(q * (samples.length - 1))];
  return { unit: 'µs', median: at(0.5), p10: at(0.1), p90: at(0.9) };
}

/** The version of an installed package. */
export async function versionOf(name) {
  const { readFileSync } = await import('node:fs');
  const file = new URL(`node_modules/${name}/package.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')).version;
}
