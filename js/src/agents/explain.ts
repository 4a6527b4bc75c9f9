/**
 * Says in sentences what an agent can do and what it cannot. Go's is host/agents/explain.go.
 */
import { missing, textOf } from './asks.js';
import { covers, type Grant, quotaOf } from './grant.js';
import type { Ask, Manifest } from './manifest.js';

/**
 * Says in sentences what an agent brings, and what it can do and cannot with a grant. Without one it says what the
 * agent asks for. Texts of the agent's author are in quotation marks.
 */
export function explain(manifest: Manifest, grant?: Grant): string {
  const { name, version, description } = manifest;
  const lines = [`${name} ${version}, in the words of its author: ${quoted(description)}`];
  const list = (heading: string, items: readonly string[]): void => {
    if (items.length > 0) lines.push('', `${heading}:`, ...items.map((item) => `- ${item}`));
  };
  const lacking = missing(manifest, grant).map(textOf);
  list('It brings', brings(manifest));
  if (grant === undefined) {
    list('It asks for', lacking);
    list('Without a grant it can only', ['compute, and answer in the turns that the program runs']);
    return `${lines.join('\n')}\n`;
  }
  if (grant.agent !== name || !covers(grant, version)) {
    const whom = `${grant.agent} ${grant.version ?? ''}`.trim();
    lines.push('', `The grant is for ${whom}: this agent is refused.`);
  }
  list('It is refused, because it asks for this and the grant lacks it', lacking);
  list('It can', allows(manifest, grant));
  list('It cannot', denies(grant));
  return `${lines.join('\n')}\n`;
}

/** An author's text in quotation marks, which it cannot close. */
function quoted(text: string): string {
  return `"${text.replaceAll('"', "'")}"`;
}

function brings({ executor, tools, middleware }: Manifest): string[] {
  return [
    ...(executor ? ['an executor, which decides what happens in a turn'] : []),
    ...tools.map(({ name, confirm }) =>
      confirm === true
        ? `the tool ${name}, which asks a person before each call`
        : `the tool ${name}`,
    ),
    ...middleware.map(({ name, pipeline }) => `the middleware ${name} in the pipeline ${pipeline}`),
  ];
}

function allows({ asks }: Manifest, grant: Grant): string[] {
  const list: string[] = [];
  const add = (text: string, ask: { readonly why: string } | undefined): void => {
    if (ask === undefined) list.push(`${text}, for which it does not ask`);
    else list.push(ask.why === '' ? text : `${text}: ${quoted(ask.why)}`);
  };
  const { http, credentials = [], tools = [], models = {}, stores = [], log } = grant;
  for (const origin of http?.origins ?? []) {
    add(
      `send requests to ${origin}`,
      asks.http?.find((ask) => ask.origin === origin),
    );
  }
  if (http?.privateAddresses === true && http.origins.length > 0) {
    list.push('reach these also where their addresses are of this machine or its networks');
  }
  for (const { name, origins } of credentials) {
    for (const origin of origins) {
      add(
        `have the host add the secret ${name} to requests to ${origin}`,
        asks.credentials?.find((ask) => ask.name === name && ask.origin === origin),
      );
    }
  }
  const named = (text: string, name: string, some: readonly Ask[] | undefined): void =>
    add(
      text,
      some?.find((ask) => ask.name === name),
    );
  for (const name of tools) named(`call the program's tool ${name}`, name, asks.tools);
  for (const name of Object.keys(models).sort()) {
    named(`use ${models[name]} as its model ${name}`, name, asks.models);
  }
  for (const name of stores) named(`use the store ${name}`, name, asks.stores);
  if (log !== undefined) list.push(`write ${log.bytesPerTurn} bytes of log in a turn`);
  const { steps, frames, effects, bytes, tokens } = quotaOf(grant);
  list.push(
    `take ${steps} steps, ${frames} frames, ${effects} effects, ${bytes} bytes and ${tokens} tokens in a turn`,
  );
  return list;
}

function denies({ http, tools = [], models = {}, stores = [], log }: Grant): string[] {
  const other = (some: number, what: string): string => `any ${some > 0 ? 'other ' : ''}${what}`;
  const origins = http?.origins.length ?? 0;
  return [
    `send requests to ${other(origins, 'origin')}`,
    ...(origins > 0 && http?.privateAddresses !== true
      ? ['reach addresses of this machine or its networks']
      : []),
    'see a secret, a file, the environment or the memory of the program',
    `call ${other(tools.length, 'tool of the program')}`,
    `use ${other(Object.keys(models).length, 'model')}`,
    `use ${other(stores.length, 'store')}`,
    ...(log === undefined ? ['write a log'] : []),
  ];
}
