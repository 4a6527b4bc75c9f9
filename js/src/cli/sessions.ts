/**
 * turncore sessions.
 */
import { stat } from 'node:fs/promises';
import { text } from 'node:stream/consumers';

import { Event } from '../invocations/event.js';
import { Media } from '../primitives/media.js';
import type { Message } from '../primitives/message.js';
import { SpooledArtifact } from '../primitives/spooled-artifact.js';
import { Tokenizable } from '../primitives/tokenizable.js';
import type { ToolCall, ToolCallResults } from '../primitives/tool-call.js';
import { storeError } from '../store-errors.js';
import type { SessionInfo } from '../store/store.js';
import type { DatabaseStore } from '../stores/table-store.js';
import { recordToJSON } from '../stored/codec.js';
import { exportConversation, importConversation } from '../stored/document.js';
import { parseSessions, type SessionsOptions } from './command-line.js';
import { openDatabase } from './database.js';
import { readWhole } from './journal-file.js';
import { printable } from './screen.js';
import { countEvents, eventsOf, summary } from './session-events.js';
import { HELP } from './usage.js';

/** How many conversations are listed at a time. */
const PAGE = 200;

/**
 * Looks after the conversations of a database.
 *
 * @returns true
 * @throws UsageError, or what failed (rejects)
 */
export async function sessions(args: string[]): Promise<boolean> {
  const options = parseSessions(args);
  if (options === undefined) {
    process.stdout.write(HELP['sessions']!);
    return true;
  }
  const { action, file, names } = options;
  if (action !== 'import') await stat(file); // opening would make one
  const store = await openDatabase('sessions', file);
  try {
    for await (const piece of outputOf(store, options)) process.stdout.write(piece);
  } finally {
    await store.close();
  }
  return true;

  async function* outputOf(from: DatabaseStore, { json, as }: SessionsOptions) {
    const [name = ''] = names;
    switch (action) {
      case 'list':
        for (let cursor: string | undefined; cursor !== '';) {
          const page = await from.list({ cursor, limit: PAGE });
          for (const session of page.sessions) {
            const events = await countEvents(from, session.id);
            yield `${listed(session, events, json)}\n`;
          }
          cursor = page.next;
        }
        return;
      case 'show':
        yield* shown(from, name, json);
        return;
      case 'export':
        yield await exportConversation(from, name);
        return;
      case 'import': {
        const document =
          name === '' || name === '-' ? text(process.stdin) : readWhole(name).then(String);
        yield `${printable(await importConversation(from, await document, as))}\n`;
        return;
      }
      case 'delete':
        for (const each of names) {
          if ((await from.find(each)) === undefined) throw unknown(each);
          await from.delete(each);
        }
    }
  }
}

function unknown(name: string): Error {
  return storeError('E_SESSION_NOT_FOUND', JSON.stringify(name), { details: { session: name } });
}

function listed(session: SessionInfo, count: number, json: boolean): string {
  const { id, title, messages, createdAt, updatedAt, revision } = session;
  if (json) {
    const named = title === '' ? { id } : { id, title };
    const events = count === 0 ? {} : { events: count };
    const line = JSON.stringify({ ...named, messages, ...events, createdAt, updatedAt, revision });
    return line.replace(/[\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`);
  }
  const at = updatedAt.toISOString().replace(/\.\d+/, '');
  return printable([id, messages + count, at, title].join('\t'));
}

/** What was said and done in a conversation, in the order of its times. @throws TurncoreError (rejects) if it is empty */
async function* shown(store: DatabaseStore, name: string, json: boolean): AsyncGenerator<string> {
  const events = await eventsOf(store, name);
  const { instructions, memories, retrievables, ...others } = await store.load(name);
  const { messages, thoughts, toolCalls } = others;
  const lists = [instructions, memories, retrievables, messages, thoughts, toolCalls, events];
  if (lists.every(({ length }) => length === 0)) throw unknown(name);
  const list = [...messages, ...toolCalls, ...events].sort((a, b) => timeOf(a) - timeOf(b));
  for (const each of list) yield `${await (json ? jsonOf(each) : lineOf(each))}\n`;
}

function timeOf(each: Message | ToolCall | Event): number {
  return each instanceof Event ? each.timestamp : Number(each.createdAt);
}

function jsonOf(each: Message | ToolCall | Event): string {
  return JSON.stringify(each instanceof Event ? each : recordToJSON(each));
}

async function lineOf(each: Message | ToolCall | Event): Promise<string> {
  if (each instanceof Event) return printable(summary(each));
  return printable('role' in each ? said(each) : await done(each));
}

function said({ role, content, attachments }: Message): string {
  const media = attachments.map(({ kind, mimeType }) => ` [${kind} ${mimeType}]`);
  return `${role}: ${content?.toString() ?? ''}${media.join('')}`;
}

async function done({ tool, args, isError, results }: ToolCall): Promise<string> {
  return `→ ${tool} ${JSON.stringify(args)}\n${isError ? '✗' : '←'} ${await resultText(results)}`;
}

/** The text of a tool's results, or what they are. */
async function resultText(results: ToolCallResults): Promise<string> {
  if (results instanceof Tokenizable) return results.toString();
  if (results instanceof SpooledArtifact) return results.asString();
  if (results instanceof Media) return `[${results.kind} ${results.mimeType}]`;
  return `[${results.length} ${results[0] instanceof Media ? 'media' : 'texts'}]`;
}
