// A function of Vercel: api/[...path].js. The context has `waitUntil`.
import { createAgent } from '../src/agent.js';

export const config = { runtime: 'edge' };

const agent = createAgent(process.env);

export default (request, context) => agent.fetch(request, context);
