// One agent and its grants, played alike in Node, in workerd and in a page: what is refused, and what is enforced.

/** Says what becomes of an agent with several grants, as plain data. */
export async function playAgent({ explain, loadAgent, readGrant }, file) {
  const said = [];
  const refused = (options) => loadAgent(file, options).then(() => 'loaded', String);
  const grant = (more) => readGrant(JSON.stringify({ agent: 'smoke', ...more }));
  const all = { http: { origins: ['https://a.example'] }, log: { bytesPerTurn: 300 } };
  said.push(await refused({}));
  said.push(await refused({ grant: { agent: 'smoke', tool: [] } }));
  said.push(await refused({ grant: grant({ ...all, agent: 'other' }) }));
  said.push(await refused({ grant: grant({ ...all, tools: ['mail'] }) }));

  const play = async (quota, log) => {
    const agent = await loadAgent(file, { grant: grant({ ...all, quota }) });
    said.push(explain(agent.manifest, agent.grant));
    const runner = agent.createRunner({
      bounds: { maxIterations: 50 },
      executor: (ctx, helpers) => {
        helpers.log.info({ kind: 'smoke', message: `iteration ${ctx.iteration}` });
        helpers.reportGenerationStats({ promptTokens: 90, completionTokens: 10 });
        if (log) ctx.ack();
      },
    });
    const stream = runner.stream({ message: 'Hello' });
    for await (const event of stream) said.push(`${event.event} ${event.message ?? ''}`);
    const { status, error } = await stream.result;
    said.push(`${status} ${error ?? ''}`);
  };
  await play({}, true);
  await play({ tokens: 1000 }, false);
  return said;
}
