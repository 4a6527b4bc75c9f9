// node hosts/node.js
import { createServer } from 'node:http';
import { env } from 'node:process';

import { nodeListener } from 'turncore/remote';
import { createAgent } from '../src/agent.js';
import { createSessions, userIn } from '../src/sessions.js';

const agent = createAgent(env);
const sessions = createSessions(env);
const handle = (request, ...platform) =>
  (userIn(request) === undefined ? agent : sessions).fetch(request, ...platform);
const server = createServer(nodeListener(handle));
server.listen(Number(env.PORT ?? 8787), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/`);
});
