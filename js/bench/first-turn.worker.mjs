// The measured turn in a Worker, once for each request.
import { Conversation } from './conversation.mjs';

const conversation = new Conversation(0);

export default {
  async fetch() {
    await conversation.turn();
    return new Response('done');
  },
};
