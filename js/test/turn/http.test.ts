/**
 * What the host makes of the module's HTTP requests: redirects, credentials, and what is kept from the module.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { TurncoreError } from '../../src/errors.js';
import { type Credential, Redactor } from '../../src/http/credential.js';
import { HttpExchange, type HttpSettings } from '../../src/http/exchange.js';
import { root } from '../instance/go-guest.js';

/** A request as it left the host. */
interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string;
}

/** `abi/testdata/http.json`. */
interface Vectors {
  readonly allowed: string[];
  readonly credentials: Record<string, Credential>;
  readonly vectors: {
    readonly name: string;
    readonly request: {
      readonly method: string;
      readonly url: string;
      readonly headers?: string[][];
      readonly body?: string;
      readonly credential?: string;
      readonly redirect?: number;
      readonly redirects?: number;
    };
    readonly responses?: {
      readonly status: number;
      readonly headers?: [string, string][];
      readonly body?: string[];
    }[];
    readonly sent?: Sent[];
    readonly status?: number;
    readonly headers?: string[][];
    readonly body?: string;
    readonly error?: string;
  }[];
}

const vectors = JSON.parse(
  readFileSync(new URL('abi/testdata/http.json', root), 'utf8'),
) as Vectors;

const utf8 = new TextEncoder();

/** What a request came to. */
interface Outcome {
  status: number;
  headers: readonly (readonly [string, string])[];
  body: string;
  error: unknown;
}

async function play(settings: HttpSettings, request: Vectors['vectors'][number]['request']) {
  const { method, url, headers = [], body, credential = '' } = request;
  const args = {
    method,
    url,
    headers,
    body: body === undefined ? null : utf8.encode(body),
    credential,
    redirect: request.redirect ?? 0,
    redirects: request.redirects ?? 0,
    splices: [],
  };
  const outcome: Outcome = { status: 0, headers: [], body: '', error: undefined };
  const parts: Uint8Array[] = [];
  await new HttpExchange(settings, args, {
    head: (status, list) => Object.assign(outcome, { status, headers: list }),
    data: (bytes) => void parts.push(bytes.slice()),
    done: () => undefined,
    failed: (error) => (outcome.error = error),
  }).run();
  outcome.body = Buffer.concat(parts).toString();
  return outcome;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof TurncoreError ? error.code : undefined;
}

describe('HTTP requests of the module', () => {
  for (const vector of vectors.vectors) {
    it(vector.name, async () => {
      const sent: Sent[] = [];
      const outcome = await play(
        {
          credentials: vectors.credentials,
          allowedOrigins: vectors.allowed,
          fetch: (input, init) => {
            const headers = [...new Headers(init?.headers)];
            const body = init?.body;
            sent.push({
              method: init?.method ?? 'GET',
              url: (input as URL).href,
              ...(headers.length === 0 ? {} : { headers }),
              ...(body == null ? {} : { body: Buffer.from(body as Uint8Array).toString() }),
            });
            const answer = vector.responses![sent.length - 1]!;
            const stream = new ReadableStream<Uint8Array>({
              start: (controller) => {
                for (const part of answer.body ?? []) controller.enqueue(utf8.encode(part));
                controller.close();
              },
            });
            const { status, headers: head = [] } = answer;
            return Promise.resolve(new Response(stream, { status, headers: head }));
          },
        },
        vector.request,
      );
      assert.deepEqual(sent, vector.sent ?? []);
      assert.equal(codeOf(outcome.error), vector.error, String(outcome.error));
      assert.equal(outcome.status, vector.status ?? 0);
      assert.deepEqual(outcome.headers, vector.headers ?? []);
      assert.equal(outcome.body, vector.body ?? '');
    });
  }

  it('a platform that hides redirects gives a typed error', async () => {
    const opaque = Object.defineProperty(Response.error(), 'type', { value: 'opaqueredirect' });
    const settings = {
      credentials: {},
      allowedOrigins: undefined,
      fetch: () => Promise.resolve(opaque),
    };
    for (const redirect of [0, 1, 2]) {
      const request = { method: 'GET', url: 'https://api.test/', redirect, redirects: 5 };
      const { error } = await play(settings, request);
      assert.equal(codeOf(error), 'E_HTTP_REDIRECT');
    }
  });

  it('a failure does not quote the secret, which fetch does for a header that cannot be sent', async () => {
    const { error } = await play(
      { credentials: vectors.credentials, allowedOrigins: undefined, fetch },
      { method: 'GET', url: 'https://api.test/', credential: 'broken' },
    );
    assert.equal(codeOf(error), 'E_HTTP_TRANSPORT');
    assert.match(String(error), /\[redacted\]/);
    for (let e = error; e instanceof Error; e = e.cause) {
      assert.doesNotMatch(`${e.message} ${e.stack ?? ''}`, /0123456789/);
    }
  });

  it('a credential is asked for once, and what fails there is told', async () => {
    let asked = 0;
    const value = (): string => `Bearer token-${(asked += 1)}`;
    const credentials = { key: { header: 'authorization', value, origins: ['https://api.test'] } };
    const seen: (string | null)[] = [];
    const settings: HttpSettings = {
      credentials,
      allowedOrigins: undefined,
      fetch: (_input, init) => {
        seen.push(new Headers(init?.headers).get('authorization'));
        const moved = seen.length < 3;
        return Promise.resolve(
          new Response('token-1', moved ? { status: 302, headers: { location: '/b' } } : {}),
        );
      },
    };
    const request = {
      method: 'GET',
      url: 'https://api.test/',
      credential: 'key',
      redirect: 1,
      redirects: 5,
    };
    const { status, error } = await play(settings, request);
    assert.deepEqual([status, error], [200, undefined]);
    assert.deepEqual(seen, ['Bearer token-1', 'Bearer token-1', 'Bearer token-1']);

    const refusing = { ...credentials.key, value: () => Promise.reject(new Error('no vault')) };
    const failed = await play({ ...settings, credentials: { key: refusing } }, request);
    assert.equal(codeOf(failed.error), 'E_HTTP_TRANSPORT');
    assert.match(String(failed.error), /no vault/);
  });
});

describe('Redactor', () => {
  // host/internal/exchange/exchange_test.go has the same.
  const spaced = [
    ['correct-horse-battery x1', 'a correct-horse-battery x1 b', 'a [redacted] b'],
    ['correct-horse battery-staple', 'correct-horse battery-staple', '[redacted]'],
    ['correct-horse battery-staple', 'a battery-staple b', 'a [redacted] b'],
    ['Key 0123456789', '"0123456789", "Key 0123456789"', '"[redacted]", "[redacted]"'],
    ['Bearer 0123456789', 'Bearer 0123456789', 'Bearer [redacted]'],
    ['basic 0123456789', 'basic 0123456789', 'basic [redacted]'],
  ] as const;
  for (const [value, body, want] of spaced) {
    it(`finds ${value} in ${body}`, () => {
      assert.equal(Redactor.of(value)!.text(body), want);
      const bytes = new TextEncoder().encode(body);
      for (let size = 1; size <= bytes.length; size++) {
        const redactor = Redactor.of(value)!;
        let got = '';
        const decoder = new TextDecoder();
        for (let at = 0; at < bytes.length; at += size) {
          got += decoder.decode(redactor.write(bytes.slice(at, at + size)));
        }
        assert.equal(got + decoder.decode(redactor.rest()), want);
      }
    });
  }

  it('knows the escapes of JSON, however deep and however a body is cut', () => {
    const code = (c: string): string => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
    const escaped: Record<string, (secret: string) => string> = {
      'as it is': (s) => s.replaceAll('\\', '\\\\'),
      'every character': (s) => Array.from(s, code).join(''),
      'the first one': (s) => code(s[0]!).toUpperCase().replace('U', 'u') + s.slice(1),
      slashes: (s) => s.replaceAll('/', '\\/'),
      'JSON within JSON': (s) => (code(s[0]!) + s.slice(1)).replaceAll('\\', '\\\\\\\\'),
    };
    for (const secret of ['sk-0123/456+789', 'u0u0u0u0', 'abc\\defgh', 'abc\\\\defgh']) {
      for (const [name, escape] of Object.entries(escaped)) {
        const text = escape(secret);
        const body = utf8.encode(`{"a":"\\n${text}\\u00e9","b":"${text}"}`);
        for (let size = 1; size <= body.length; size++) {
          const redactor = Redactor.of(`Bearer ${secret}`)!;
          const parts: Uint8Array[] = [];
          for (let at = 0; at < body.length; at += size) {
            parts.push(redactor.write(body.subarray(at, at + size)).slice());
          }
          parts.push(redactor.rest());
          assert.equal(
            Buffer.concat(parts).toString(),
            '{"a":"\\n[redacted]\\u00e9","b":"[redacted]"}',
            `${secret}, ${name}, ${size} bytes at once`,
          );
        }
      }
    }
    const redactor = Redactor.of('sk-0123/456')!;
    for (const text of ['sk-\\u012', '\\\\\\\\', 'sk-0123\\u002', '\\u0073\\u006b', '\ufeffé']) {
      assert.equal(redactor.text(text), text);
    }
    assert.ok(redactor.finds(new Error('x', { cause: new Error('key \\u0073k-0123\\/456') })));
  });

  it('passes on the same bytes however a body is cut', () => {
    for (const secret of ['aaaaaaaa', 'abababab', 'abcabcabd', 'sk-0123456789']) {
      const body = utf8.encode(
        `x${'a'.repeat(20)}${secret}${secret.slice(1)}ab${secret.slice(0, -1)}${secret}abcabcabcabd${secret.slice(0, 3)}`,
      );
      const want = Buffer.from(body).toString().replaceAll(secret, '[redacted]');
      for (let size = 1; size <= body.length; size++) {
        const redactor = Redactor.of(`Bearer ${secret}`)!;
        const parts: Uint8Array[] = [];
        for (let at = 0; at < body.length; at += size) {
          parts.push(redactor.write(body.subarray(at, at + size)).slice());
        }
        parts.push(redactor.rest());
        assert.equal(Buffer.concat(parts).toString(), want, `${secret}, ${size} bytes at once`);
      }
    }
    for (const value of ['', 'Bearer', 'Bearer 1234567', '1234567']) {
      assert.equal(Redactor.of(value), undefined);
    }
  });
});
