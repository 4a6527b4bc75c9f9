import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

const nodeGlobals = Object.fromEntries(
  [
    'AbortController',
    'AbortSignal',
    'addEventListener',
    'atob',
    'Blob',
    'BroadcastChannel',
    'Buffer',
    'Bun',
    'caches',
    'clearInterval',
    'clearTimeout',
    'clients',
    'console',
    'crypto',
    'Deno',
    'document',
    'EventTarget',
    'fetch',
    'FormData',
    'globalThis',
    'history',
    'location',
    'matchMedia',
    'MessageChannel',
    'MessagePort',
    'MutationObserver',
    'navigator',
    'performance',
    'PerformanceObserver',
    'postMessage',
    'process',
    'ProgressEvent',
    'queueMicrotask',
    'ReadableStream',
    'Request',
    'requestAnimationFrame',
    'Response',
    'self',
    'setImmediate',
    'setInterval',
    'setTimeout',
    'structuredClone',
    'TextDecoder',
    'TextDecoderStream',
    'TextEncoder',
    'TransformStream',
    'URL',
    'URLSearchParams',
    'WebAssembly',
    'window',
    'Worker',
  ].map((name) => [name, 'readonly']),
);

export default defineConfig(
  { ignores: ['**/build/', '**/dist/', '**/node_modules/', '**/.wrangler/', '**/*.gen.ts'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: { project: './tsconfig.test.json', tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_' },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // Callbacks and generators are often async by interface and not by body.
      '@typescript-eslint/require-await': 'off',
      // Callers may be plain JavaScript: checks that the types call impossible are wanted.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      // Index access under noUncheckedIndexedAccess, where a branch would cost on the codec's hot path.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // The linter cannot see that node:test waits for the tests it is given.
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', name: ['test', 'it', 'describe', 'suite'], package: 'node:test' },
          ],
        },
      ],
    },
  },
  {
    files: ['**/*.js', '**/*.mjs'],
    languageOptions: { globals: nodeGlobals },
  },
  {
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: "CallExpression[callee.property.name='waitForFunction'] > *[async=true]",
          message: 'Playwright takes a promise for true: evaluate a loop.',
        },
      ],
    },
  },
);
