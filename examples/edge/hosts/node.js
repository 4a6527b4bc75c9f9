// node hosts/node.js
import { createServer } from 'node:http';
import { env } from 'node:process';

import { nodeListener } from 'turncore/remote';
import { createAgent } from '../src/agent.js';

const server = createServer(nodeListener(createAgent(env).fetch));
server.listen(Number(env.PORT ?? 8787), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/`);
});
