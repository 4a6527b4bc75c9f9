/**
 * The first turn of a page: milliseconds from the module's bytes in hand.
 */
import { Conversation } from './conversation.mjs';

export async function firstTurn(url) {
  const module = await (await fetch(url)).arrayBuffer();
  const begun = performance.now();
  await new Conversation(0, { module }).turn();
  return performance.now() - begun;
}
