// The Worker: the page, and each request of a conversation to its object.
import script from '../build/page.js.txt';
import page from '../page/index.html';
import { conversationIn } from './agent.js';

export { Conversation } from './conversation.js';

const files = {
  '/': [page, 'text/html; charset=utf-8'],
  '/page.js': [script, 'text/javascript; charset=utf-8'],
};

export default {
  fetch(request, { CONVERSATIONS }) {
    const conversation = conversationIn(request);
    if (conversation !== undefined) {
      return CONVERSATIONS.get(CONVERSATIONS.idFromName(conversation)).fetch(request);
    }
    const [body, type] = files[new URL(request.url).pathname] ?? [];
    if (body === undefined) return new Response('There is nothing here.\n', { status: 404 });
    return new Response(body, { headers: { 'content-type': type } });
  },
};
