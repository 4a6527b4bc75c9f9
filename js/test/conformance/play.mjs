// Plays the conformance corpus on a platform of JavaScript.

/**
 * Plays all scenarios that the platform can play.
 *
 * @param conformance the package's module turncore/conformance
 * @param files the corpus
 * @param host options of the host: the module
 * @param core whether that is the core module
 * @param store keeps what storage callbacks get, if there is one
 * @returns the ids of those that passed, what failed, and the log of the scenarios that every host can play, those of
 *   the core module first
 */
export async function playCorpus(conformance, files, host, core = false, store = undefined) {
  const { check, checkStorage, failing, features, logText, playable, Player } = conformance;
  const has = features.filter((feature) => !(core && feature === 'full'));
  const failures = [];
  const passed = [];
  let common = '';
  let full = '';
  let commits = 0;
  for (const file of files.filter(({ invocations }) => !invocations)) {
    const player = new Player({ host, store });
    for (const scenario of file.scenarios) {
      if (!playable(scenario, has)) continue;
      try {
        const lines = await player.play(scenario);
        check(scenario, lines);
        passed.push(scenario.id);
        const needs = scenario.needs ?? [];
        if (needs.some((need) => need !== 'full')) continue;
        let text = `# ${scenario.id}\n${logText(lines)}`;
        for (const one of failing(scenario, lines)) {
          const log = await player.play(one);
          checkStorage(one, log);
          text += `# ${one.id}\n${logText(log)}`;
        }
        if (needs.length === 0) common += text;
        else full += text;
      } catch (error) {
        failures.push(`${scenario.id}: ${error.message}`);
      }
    }
    commits += player.commits;
  }
  if (!core) full += await playInvocations(conformance, files, host, { passed, failures });
  return { passed, failures, log: common + full, commits };
}

/** Plays all scenarios of invocations, with all faults. @returns the log */
async function playInvocations(conformance, files, host, { passed, failures }) {
  const { checkInvocation, InvocationPlayer, invocationVariants, logText } = conformance;
  const player = new InvocationPlayer({ host });
  let text = '';
  for (const { scenarios } of files.filter(({ invocations }) => invocations)) {
    for (const scenario of scenarios) {
      try {
        const lines = await player.play(scenario);
        text += `# ${scenario.id}\n${logText(lines)}`;
        for (const one of invocationVariants(scenario, lines)) {
          text += `# ${one.id}\n${logText(await player.play(one))}`;
        }
        checkInvocation(scenario, lines);
        passed.push(scenario.id);
      } catch (error) {
        failures.push(`${scenario.id}: ${error.message}`);
      }
    }
  }
  return text;
}

/**
 * A part of the corpus: `2/5` is the second of five, to which each file gives every fifth scenario. `1/1` is all, as is
 * no part.
 */
export function partOf(files, part = '1/1') {
  const [which, of] = part.split('/').map(Number);
  if (!(Number.isInteger(which) && Number.isInteger(of) && 1 <= which && which <= of)) {
    throw new Error(`${part} is no part: write it as 2/5`);
  }
  return files.map((file) => ({
    ...file,
    scenarios: file.scenarios.filter((_, i) => i % of === which - 1),
  }));
}
