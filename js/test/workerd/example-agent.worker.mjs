// An example agent in a Worker: its file is metered ahead, as nothing is compiled here.
import file from 'turncore/turncore.wasm';

import { playAgent } from '../agents/play.mjs';

export default {
  async fetch(request) {
    const { grant, play } = await request.json();
    return new Response(await playAgent(file, grant, play));
  },
};
