// An agent in a Worker: its file is metered ahead, as nothing is compiled here.
import * as agents from 'turncore/agents';
import file from 'turncore/turncore.wasm';

import { playAgent } from '../smoke/granted-agent.mjs';

export default {
  async fetch() {
    return Response.json(await playAgent(agents, file));
  },
};
