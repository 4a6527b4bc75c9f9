/**
 * Manifests, grants and what an agent may do with one: the same as in Go, by cases that Go has written.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { isPublicIPv4, isPublicIPv6 } from '../../src/agents/address.js';
import { requireFit } from '../../src/agents/asks.js';
import { explain, type Grant, parseManifest, readGrant } from '../../src/entries/agents.js';
import { isTurncoreError } from '../../src/errors.js';

// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the type of the file's content
function cases<T>(name: string): readonly T[] {
  const url = new URL(`../../../../abi/testdata/grants/${name}.json`, import.meta.url);
  const list = JSON.parse(readFileSync(url, 'utf8')) as T[];
  assert.ok(list.length > 0);
  return list;
}

/** The details of the error that a function throws; undefined if it throws none. */
function violations(code: string, run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    assert.ok(isTurncoreError(error), String(error));
    assert.equal(error.code, code);
    return error.details;
  }
  return undefined;
}

interface DocumentCase {
  readonly name: string;
  readonly document: unknown;
  readonly errors?: readonly string[];
}

describe('documents of agents', () => {
  for (const { name, document, errors } of cases<DocumentCase>('manifests')) {
    it(`a manifest: ${name}`, () => {
      const found = violations('E_AGENT_MANIFEST', () => parseManifest(JSON.stringify(document)));
      assert.deepEqual(found, errors);
    });
  }
  for (const { name, document, errors } of cases<DocumentCase>('grants')) {
    it(`a grant: ${name}`, () => {
      const found = violations('E_AGENT_GRANT', () => readGrant(JSON.stringify(document)));
      assert.deepEqual(found, errors);
    });
  }
  for (const { name, text, errors } of cases<DocumentCase & { text: string }>('texts')) {
    it(`a text: ${name}`, () => {
      const found = violations('E_AGENT_MANIFEST', () => parseManifest(text));
      assert.deepEqual(found, errors);
    });
  }
  it('bytes that are no UTF-8', () => {
    const found = violations('E_AGENT_GRANT', () => readGrant(Uint8Array.of(0x22, 0xff, 0x22)));
    assert.deepEqual(found, ['it is no UTF-8']);
  });
});

interface FitCase {
  readonly name: string;
  readonly manifest: unknown;
  readonly grant: Grant | null;
  readonly code?: string;
  readonly message?: string;
  readonly explain: string;
}

describe('an agent with a grant', () => {
  for (const c of cases<FitCase>('fits')) {
    it(c.name, () => {
      const manifest = parseManifest(JSON.stringify(c.manifest));
      const grant = c.grant ?? undefined;
      let code: string | undefined;
      let message: string | undefined;
      try {
        requireFit(manifest, grant);
      } catch (error) {
        assert.ok(isTurncoreError(error));
        ({ code, message } = error);
      }
      assert.deepEqual({ code, message }, { code: c.code, message: c.message });
      assert.equal(explain(manifest, grant), c.explain);
    });
  }
});

describe('addresses', () => {
  for (const { address, public: expected } of cases<{ address: string; public: boolean }>(
    'addresses',
  )) {
    it(address, () => {
      const found = address.includes(':') ? isPublicIPv6(address) : isPublicIPv4(address);
      assert.equal(found, expected);
    });
  }
});
