import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseReplay, parseRun, parseSessions } from '../../src/cli/command-line.js';
import { UsageError } from '../../src/cli/usage.js';

/** What the environment says of addresses, and what it means. The command in Go has the same table. */
const addresses = [
  ['anthropic', 'ANTHROPIC_BASE_URL', 'http://a', 'http://a/v1'],
  ['anthropic', 'ANTHROPIC_BASE_URL', 'http://a/v1/', 'http://a/v1'],
  ['anthropic', 'ANTHROPIC_BASE_URL', '', 'https://api.anthropic.com/v1'],
  ['gemini', 'GOOGLE_GEMINI_BASE_URL', 'http://g/', 'http://g/v1beta'],
  ['ollama', 'OLLAMA_HOST', 'http://o:1/', 'http://o:1'],
  ['ollama', 'OLLAMA_HOST', 'o', 'http://o:11434'],
  ['ollama', 'OLLAMA_HOST', '0.0.0.0:80', 'http://127.0.0.1:80'],
  ['ollama', 'OLLAMA_HOST', ':80', 'http://127.0.0.1:80'],
] as const;

describe('the command line of a run', () => {
  it('has a prompt, and flags before and behind it', () => {
    const options = parseRun(
      ['--json', 'what?', '--seed', '4294967295', '--max-iterations=0', '--system', ''],
      {},
    );
    assert.ok(options);
    assert.equal(options.prompt, 'what?');
    assert.equal(options.json, true);
    assert.equal(options.seed, 0xffffffff);
    assert.equal(options.maxIterations, false);
    assert.equal(options.system, '');
    assert.equal(options.baseURL, undefined);
  });

  it('is helped out by the environment', () => {
    const env = { OPENAI_BASE_URL: 'http://a/v1', OPENAI_API_KEY: 'k', OPENAI_MODEL: 'm' };
    const from = parseRun(['x'], env)!;
    assert.deepEqual([from.baseURL, from.key, from.model], ['http://a/v1', 'k', 'm']);
    const over = parseRun(['x', '--base-url', 'http://b/v1', '--model', 'n'], env)!;
    assert.deepEqual([over.baseURL, over.key, over.model], ['http://b/v1', 'k', 'n']);
    const empty = parseRun(['x'], { OPENAI_BASE_URL: '', OPENAI_API_KEY: '', OPENAI_MODEL: '' })!;
    assert.deepEqual([empty.baseURL, empty.key, empty.model], [undefined, undefined, 'simulated']);
  });

  it('reaches OpenAI by a model and a key', () => {
    const env = { OPENAI_API_KEY: 'sk', OPENAI_MODEL: 'm' };
    for (const args of [['x', '--model', 'm'], ['x']]) {
      const { provider, baseURL, key, model } = parseRun(args, env)!;
      assert.deepEqual(
        [provider, baseURL, key, model],
        ['openai', 'https://api.openai.com/v1', 'sk', 'm'],
      );
    }
    assert.equal(parseRun(['x'], { OPENAI_API_KEY: 'sk' })!.provider, undefined);
  });

  it('names a provider, which has an address and a key of its own', () => {
    const env = {
      ...{ OPENAI_BASE_URL: 'http://a/v1', OPENAI_API_KEY: 'o', OPENAI_MODEL: 'm' },
      ...{ ANTHROPIC_API_KEY: 'a', GEMINI_API_KEY: 'g' },
    };
    const chosen = (...args: string[]): unknown[] => {
      const { provider, baseURL, key, model } = parseRun(['x', ...args], env)!;
      return [provider, baseURL, key, model];
    };
    assert.deepEqual(chosen(), ['openai', 'http://a/v1', 'o', 'm']);
    assert.deepEqual(chosen('--provider', 'openai-responses', '--model', 'n'), [
      ...['openai-responses', 'http://a/v1', 'o', 'n'],
    ]);
    assert.deepEqual(chosen('--provider', 'responses', '--model', 'n'), [
      ...['openai-responses', 'http://a/v1', 'o', 'n'],
    ]);
    assert.deepEqual(chosen('--provider', 'anthropic', '--model', 'c'), [
      ...['anthropic', 'https://api.anthropic.com/v1', 'a', 'c'],
    ]);
    assert.deepEqual(chosen('--provider=gemini', '--model=f', '--base-url=http://b/v1beta'), [
      ...['gemini', 'http://b/v1beta', 'g', 'f'],
    ]);
    assert.deepEqual(chosen('--provider', 'ollama', '--model', 'q'), [
      ...['ollama', 'http://localhost:11434', undefined, 'q'],
    ]);
    const at = (provider: string, name: string, value: string): string | undefined =>
      parseRun(['x', '--provider', provider, '--model', 'm'], {
        [name]: value,
        ANTHROPIC_API_KEY: 'a',
      })!.baseURL;
    for (const [provider, name, value, url] of addresses) {
      assert.equal(at(provider, name, value), url, `${name}=${value}`);
    }
    const bare = parseRun(['x', '--provider', 'openai'], { OPENAI_API_KEY: 'o' })!;
    assert.deepEqual([bare.baseURL, bare.model], ['https://api.openai.com/v1', 'gpt-4o-mini']);
  });

  it('offers programs as tools', () => {
    const { tools } = parseRun(
      ['--tool', 'a=cat -n', '--tool', 'b_2:Says hello: politely=echo x=y'],
      {},
    )!;
    assert.deepEqual(tools, [
      { name: 'a', description: 'Runs the program a.', program: 'cat -n' },
      { name: 'b_2', description: 'Says hello: politely', program: 'echo x=y' },
    ]);
  });

  it('asks for help', () => {
    assert.equal(parseRun(['-h'], {}), undefined);
    assert.equal(parseReplay(['--help']), undefined);
  });

  const wrong: [string[], RegExp][] = [
    [['a', 'b'], /2 prompts/],
    [[''], /the prompt is empty/],
    [['--nope'], /--nope/],
    [['--json=1'], /--json/],
    [['--seed', '4294967296'], /--seed/],
    [['--seed', '1.5'], /--seed/],
    [['--seed', ''], /--seed/],
    [['--max-iterations', 'x'], /--max-iterations/],
    [['--engine', 'wazero'], /only node; the Go command has it/],
    [['--engine', 'other'], /only node$/],
    [['--base-url', 'ftp://x'], /http or https/],
    [['--base-url', 'x'], /http or https/],
    [['--model', ''], /--model/],
    [['--provider', ''], /--provider: it is empty/],
    [['--provider', 'other'], /--provider: it must be one of openai, openai-responses, anthropic/],
    [['--provider', 'anthropic'], /--provider anthropic needs a --model/],
    [
      ['--model', 'gpt-4o-mini'],
      /^the model "gpt-4o-mini" needs a provider: set OPENAI_API_KEY, or/,
    ],
    [['--provider', 'openai'], /^openai needs a key: set OPENAI_API_KEY, or give the --base-url/],
    [['--provider', 'gemini', '--model', 'm'], /^gemini needs a key: set GEMINI_API_KEY/],
    [['--tool', 'x'], /NAME=CMD/],
    [['--tool', 'x= '], /NAME=CMD/],
    [['--tool', 'ä=b'], /letters, digits/],
    [['--tool', 'a=b', '--tool', 'a=c'], /another tool/],
  ];
  for (const [args, pattern] of wrong) {
    it(`is wrong: ${args.join(' ')}`, () => {
      assert.throws(
        () => parseRun(args, {}),
        (error) => error instanceof UsageError && pattern.test(error.message),
      );
    });
  }
});

describe('the command line of a replay', () => {
  it('names one journal', () => {
    assert.deepEqual(parseReplay(['f', '--engine', 'node', '--module', 'm']), {
      file: 'f',
      module: 'm',
    });
    for (const args of [[], ['a', 'b'], ['a', '--engine', 'native']]) {
      assert.throws(() => parseReplay(args), UsageError);
    }
  });
});

describe('the command line of sessions', () => {
  it('has an action, names and a database', () => {
    assert.deepEqual(parseSessions(['delete', 'a', 'b', '--store', 'f']), {
      action: 'delete',
      names: ['a', 'b'],
      file: 'f',
      as: undefined,
      json: false,
    });
    assert.equal(parseSessions(['-h']), undefined);
  });

  it('is refused when it is wrong', () => {
    for (const [line, want] of [
      ['', 'give an action'],
      ['fly --store x', 'is no action'],
      ['toString --store x', 'is no action'],
      ['list', '--store'],
      ['list --store=', 'empty'],
      ['show --store x', 'needs the name'],
      ['show a b --store x', 'does not take 2 names'],
      ['list --session a --store x', 'for import'],
      ['export a --json --store x', '--json is for'],
    ] as const) {
      assert.throws(
        () => parseSessions(line.split(' ').filter((word) => word !== '')),
        (error) => error instanceof UsageError && error.message.includes(want),
        line,
      );
    }
    assert.throws(() => parseRun(['--session', 'a', 'hello'], {}), /give one/);
  });
});
