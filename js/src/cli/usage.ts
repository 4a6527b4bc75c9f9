/**
 * The command's help.
 */
import { providerNames } from '../chat/providers.js';
import { VARIABLES_HELP } from './variables.gen.js';

/** An invalid command line. */
export class UsageError extends Error {
  /** The subcommand; empty for none. */
  readonly command: string;

  constructor(command: string, message: string) {
    super(message);
    this.command = command;
  }
}

/** An option in the help: its name and value, then its description, line by line. */
type Option = readonly [flag: string, ...text: string[]];

function list(options: readonly Option[]): string {
  return options
    .map(([flag, ...text]) => [`  --${flag}`, ...text.map((line) => `        ${line}`)].join('\n'))
    .join('\n');
}

const engineOptions: Option[] = [
  ['engine name', 'run the core on this engine; Node has one, "node"'],
  ['module file', 'run the WebAssembly module in file in place of the one in this package'],
];

/** Help by subcommand; the empty one is the command's own. */
export const HELP: Readonly<Record<string, string>> = {
  '': `turncore runs agent turns.

  turncore run [PROMPT] [flags]    run a turn and show what happens
  turncore replay FILE [flags]     play a turn's journal back and compare every byte
  turncore inspect FILE [flags]    show what happened in a turn, from its journal
  turncore sessions ACTION         list, show, export, import or delete conversations
  turncore version                 show versions
  turncore help [COMMAND]          show help

"turncore COMMAND -h" lists the flags of a command.
`,
  run: `turncore run [PROMPT] [flags]

Runs one turn and streams the answer. PROMPT is what the user says; without it, or
as "-", it is read from standard input, and at a terminal a conversation begins.

Without a provider, a base URL and a model the model is simulated, which a note on
standard error says: it calls a tool that the prompt mentions. The tools current_time
and calculate are offered then.

Exit status: 0 if the turn acked, 1 if not, 2 for a command line that is wrong.

Environment: the provider's variables stand in for --base-url and --model, and have the key,
which is sent to the base URL's origin and nowhere else.

${VARIABLES_HELP}
Flags:
${list([
  ['base-url URL', "URL of the provider's API, up to the version (the provider's own)"],
  ...engineOptions.slice(0, 1),
  ['fixed-clock', "let the turn's clock stand still at 2026-01-01T00:00:00Z"],
  ['json', 'print events as JSON lines, the last of them what the turn ended with'],
  ['log file', "write the turn's journal to file, for replay"],
  ['max-iterations n', 'stop the turn before it begins iteration n+1; 0 sets no bound (16)'],
  [
    'model name',
    'name of the model ("gpt-4o-mini" with OpenAI\'s providers, or "simulated" when it is simulated)',
  ],
  ...engineOptions.slice(1),
  [
    'provider name',
    `name of the protocol that the model's API speaks: ${providerNames.join(', ')}`,
    '(openai, when there is a base URL, or a model and OPENAI_API_KEY)',
  ],
  [
    'seed n',
    'take ids and randomness from a generator that begins with n: for reproducible runs only',
  ],
  ['session name', 'name of the conversation in the store ("default")'],
  [
    'store file',
    'keep the conversation in the SQLite database in file, which is made if need be; Node has',
    'SQLite from 22.13 on',
  ],
  ['system text', 'system prompt; an empty one sends none'],
  [
    'tool NAME=CMD',
    'offer a program as a tool, as NAME=CMD or NAME:DESCRIPTION=CMD; it reads the arguments as',
    'JSON from standard input and writes its result to standard output; may be repeated',
  ],
  ['verbose', 'tell more on standard error'],
])}
`,
  replay: `turncore replay FILE [flags]

Plays the journal that "turncore run --log FILE" wrote into a fresh core, runs none of
its effects again, and compares every byte that comes out.

Exit status: 0 if all are equal, 1 if not, 2 for a command line that is wrong.

Flags:
${list(engineOptions)}
`,
  inspect: `turncore inspect FILE [flags]

Shows what happened in a turn, from the journal that "turncore run --log FILE" wrote:
iterations, requests and other effects with how long they took, tools with arguments and
results, gates, tokens, errors, and how it ended. Nothing runs.

Exit status: 0 if the journal is whole, 1 if not, 2 for a command line that is wrong.

Flags:
${list([
  ['json', 'print the header and each entry with its decoded frames, as JSON lines'],
  ['verbose', 'print texts whole, bodies of requests and responses, and calls of the host'],
])}
`,
  sessions: `turncore sessions ACTION --store FILE [flags]

Looks after the conversations that "turncore run --store FILE" keeps in an SQLite database, and the sessions of "turncore
chat --store FILE", whose names are APP/USER/SESSION:

  turncore sessions list             name, messages or events, last update and title of each, the last
                                     updated first
  turncore sessions show NAME        what was said and done in one
  turncore sessions export NAME      print one as a JSON document
  turncore sessions import [FILE]    store a document as a conversation and print its name; from standard
                                     input without FILE or with "-"
  turncore sessions delete NAME...   delete conversations

Exit status: 0, 1 if something failed, 2 for a command line that is wrong.

Flags:
${list([
  ['json', 'list and show: print JSON lines'],
  ['session name', "name of an imported conversation (the document's own)"],
  ['store file', 'the database in file; Node has SQLite from 22.13 on'],
])}
`,
  version: `turncore version

Shows the versions of this program, of the ABI, of Node, and of the module that it carries.
`,
};
