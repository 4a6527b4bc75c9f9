// Plays the conformance corpus on a platform of JavaScript.

/**
 * Plays all scenarios that the platform can play.
 *
 * @param conformance the package's module turncore/conformance
 * @param files the corpus
 * @param host options of the host, such as the module
 * @returns how many passed, what failed, and the log of the scenarios that every host can play
 */
export async function playCorpus({ check, features, logText, playable, Player }, files, host) {
  const failures = [];
  let passed = 0;
  let log = '';
  for (const file of files) {
    const player = new Player({ host });
    for (const scenario of file.scenarios) {
      if (!playable(scenario, features)) continue;
      try {
        const lines = await player.play(scenario);
        check(scenario, lines);
        passed += 1;
        if ((scenario.needs ?? []).length === 0) log += `# ${scenario.id}\n${logText(lines)}`;
      } catch (error) {
        failures.push(`${scenario.id}: ${error.message}`);
      }
    }
  }
  return { passed, failures, log };
}
