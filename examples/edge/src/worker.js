// The Worker: the page, and each request to the object of its conversation, or of its user's sessions.
import script from '../build/page.js.txt';
import page from '../page/index.html';
import { conversationIn } from './agent.js';
import { userIn } from './sessions.js';

export { Conversation } from './conversation.js';
export { UserSessions } from './user-sessions.js';

const files = {
  '/': [page, 'text/html; charset=utf-8'],
  '/page.js': [script, 'text/javascript; charset=utf-8'],
};

export default {
  fetch(request, { CONVERSATIONS, SESSIONS }) {
    const conversation = conversationIn(request);
    if (conversation !== undefined) {
      return CONVERSATIONS.get(CONVERSATIONS.idFromName(conversation)).fetch(request);
    }
    const user = userIn(request);
    if (user !== undefined) return SESSIONS.get(SESSIONS.idFromName(user)).fetch(request);
    const [body, type] = files[new URL(request.url).pathname] ?? [];
    if (body === undefined) return new Response('There is nothing here.\n', { status: 404 });
    return new Response(body, { headers: { 'content-type': type } });
  },
};
