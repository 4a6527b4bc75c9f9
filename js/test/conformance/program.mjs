// What the hosts of js/test/hosts play in place of their small agent: the conformance corpus.
import * as conformance from 'turncore/conformance';

import { text } from './files.mjs';
import { module } from './module.mjs';
import { partOf, playCorpus } from './play-corpus.mjs';

/**
 * Plays the corpus.
 *
 * @param parts the part to play, as `2/5`; without one the whole corpus
 */
export function play([part] = []) {
  return playCorpus(conformance, partOf(JSON.parse(text), part), { module });
}
