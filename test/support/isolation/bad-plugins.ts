import { adapterSource, CONTRACT_URL, type PluginFixture } from './write-plugin.js';

/** A plugin that is bad in one way, and what becomes of it and of a module of its kind. */
export interface BadPlugin extends Omit<PluginFixture, 'name'> {
  /** Of its entry, a symbolic link to a file outside of its folder. */
  readonly isLinkedOutside?: true;
  /** What `GET /plugins` says; absent: it is loaded. */
  readonly refused?: RegExp;
  /** What `GET /modules` says of the module. */
  readonly module:
    | { readonly state: 'refused' | 'waiting'; readonly reason: RegExp }
    /** It serves, and a call fails this way. */
    | { readonly failure: 'timeout' | 'protocol' };
  /** More of the module's descriptor. */
  readonly descriptor?: object;
}

const BRAND = `[Symbol.for('modgate.adapter')]: true`;
const NO_KIND = /^[^:]+:1:\d+ 'provider.kind' |no plugin has that kind/;

const refusedBy = (reason: RegExp) =>
  ({ refused: reason, module: { state: 'refused', reason } }) as const;
const failsWith = (failure: 'timeout' | 'protocol', invoke: string) =>
  ({ entry: adapterSource('KIND', { invoke }), module: { failure } }) as const;
const opens = (open: string, reason: RegExp) =>
  ({ entry: adapterSource('KIND', { open }), module: { state: 'refused', reason } }) as const;

/** By what is wrong; `KIND` in an entry stands for the name of the plugin, which is its kind. */
export const BAD_PLUGINS: Readonly<Record<string, BadPlugin>> = {
  'a plugin.json that is no JSON': {
    manifest: '{"name": KIND}',
    entry: adapterSource('KIND'),
    refused: /has a bad plugin\.json:1:10: /,
    module: { state: 'refused', reason: NO_KIND },
  },
  'a plugin.json with an unknown key': {
    manifest: { entri: './index.mjs' },
    entry: adapterSource('KIND'),
    ...refusedBy(/has a bad plugin\.json:1:\d+: unknown key 'entri'/),
  },
  'a contract of the future': {
    manifest: { contract: 2 },
    entry: adapterSource('KIND'),
    ...refusedBy(/is written for contract 2, this host has 1/),
  },
  'an entry that is missing': { entry: null, ...refusedBy(/has no file '\.\/index\.mjs'/) },
  'an entry outside of its folder': {
    manifest: { entry: './../good/index.mjs' },
    entry: null,
    ...refusedBy(/has an entry outside of its folder/),
  },
  'an entry that is a link to a file outside': {
    entry: null,
    isLinkedOutside: true,
    ...refusedBy(/has an entry outside of its folder/),
  },
  'the kind of another plugin': {
    manifest: { kinds: ['KIND', 'good'] },
    entry: adapterSource('KIND'),
    ...refusedBy(/has the kind 'good' of plugin 'good', which keeps it/),
  },
  'the name of another plugin': {
    manifest: { name: 'good' },
    entry: adapterSource('KIND'),
    refused: /plugin 'good' in .* has the name of the one in /,
    module: { state: 'refused', reason: /has the name of the one in/ },
  },
  'a dependency that is not installed': {
    entry: `import 'modgate-no-such-package';`,
    ...refusedBy(/cannot be imported: Cannot find package 'modgate-no-such-package'/),
  },
  'a file of its own that is missing': {
    entry: `import './lib.mjs';`,
    ...refusedBy(/cannot be imported: Cannot find module/),
  },
  'an import that throws': {
    entry: `throw new Error('no licence');`,
    ...refusedBy(/cannot be imported: no licence/),
  },
  'an import that throws no error': {
    entry: 'throw null;',
    ...refusedBy(/cannot be imported: it threw a value that is not an error/),
  },
  'a syntax error': { entry: 'export default {', ...refusedBy(/cannot be imported: Unexpected/) },
  'an import that never ends': {
    entry: 'await new Promise((resolve) => setTimeout(resolve, 2 ** 30));',
    ...refusedBy(/did not finish its import within 5000 ms/),
  },
  'an import that waits for nothing': {
    entry: 'await new Promise(() => {});',
    ...refusedBy(/did not finish its import within 5000 ms|exits the process during its import/),
  },
  'an import that loops without end': {
    entry: 'for (;;);',
    ...refusedBy(/did not finish its import within 5000 ms/),
  },
  'an import that ends the process': {
    entry: 'process.exit(0);',
    ...refusedBy(/exits the process during its import/),
  },
  'an import that eats all memory': {
    entry: 'const all = []; for (;;) all.push(new Array(100_000).fill(0).map((_, i) => ({ i })));',
    ...refusedBy(/needs more than 512 MiB for its import|did not finish its import within 5000 ms/),
  },
  'an import whose timer throws': {
    entry: `setTimeout(() => { throw new Error('stray'); }, 1);
      await new Promise((resolve) => setTimeout(resolve, 1000));`,
    ...refusedBy(/has an uncaught error during its import: stray/),
  },
  'no default export': { entry: 'export const a = 1;', ...refusedBy(/has no default export/) },
  'a default export without adapters': {
    entry: 'export default { adaptors: [] };',
    ...refusedBy(/has a default export without 'adapters'/),
  },
  'an adapter without a brand': {
    entry: `export default { adapters: [{ kind: 'KIND', contract: 1 }] };`,
    ...refusedBy(/exports an adapter that is not branded/),
  },
  'an adapter for another contract': {
    entry: `export default { adapters: [{ kind: 'KIND', contract: 7, ${BRAND} }] };`,
    ...refusedBy(/exports an adapter for another contract, this host has 1/),
  },
  'an adapter that cannot open': {
    entry: `export default { adapters: [{ kind: 'KIND', contract: 1, ${BRAND} }] };`,
    ...refusedBy(/exports an adapter without 'open' or 'config'/),
  },
  'another kind than it declares': {
    entry: adapterSource('other'),
    ...refusedBy(/has no adapter for the kind '[a-z0-9-]+' of its plugin\.json/),
  },
  'a kind that it does not declare': {
    entry: `import { defineAdapter } from '${CONTRACT_URL}';
      const make = (kind) => defineAdapter({ kind, config: { validate: (value) => [undefined, value] }, supports: {}, open: () => ({}) });
      export default { adapters: [make('KIND'), make('http')] };`,
    ...refusedBy(/exports an adapter of the kind 'http', which its plugin\.json does not name/),
  },

  'an open that throws': opens(`throw new Error('no licence');`, /no licence/),
  'an open that never ends': opens('await new Promise(() => {});', /did not open within 5000 ms/),
  'an open that gives nothing': opens('return null;', /'open' must return an object/),
  'a provider that cannot be invoked': opens(
    'return { manifest: async () => ({}), check: async () => {} };',
    /opened an invalid provider: 'invoke' must be a function/,
  ),
  'endpoints without ids': {
    entry: adapterSource('KIND', { provider: 'endpoints: () => [{ weight: 1 }],' }),
    module: {
      state: 'refused',
      reason: /opened an invalid provider: missing key 'id' in 'endpoints\[0\]'/,
    },
  },
  'checks every 0 ms': {
    entry: adapterSource('KIND', {
      provider: `balancing: () => ({ strategy: 'round_robin', hashHeader: null,
        health: { intervalMs: 0, timeoutMs: 1, failures: 1, successes: 1 } }),`,
    }),
    module: { state: 'refused', reason: /'balancing\.health\.intervalMs' must be a whole number/ },
  },
  'a manifest with a loop': {
    entry: adapterSource('KIND', {
      provider: 'manifest: async () => { const loop = {}; loop.loop = loop; return loop; },',
    }),
    descriptor: { manifest: { from: 'provider' } },
    module: { state: 'refused', reason: /the manifest must be a value that JSON can hold/ },
  },
  'a manifest that never comes': {
    entry: adapterSource('KIND', { provider: 'manifest: () => new Promise(() => {}),' }),
    descriptor: { manifest: { from: 'provider' } },
    module: { state: 'waiting', reason: /the provider gave no manifest \(timeout\)/ },
  },

  'an invoke that never settles': failsWith('timeout', 'await new Promise(() => {});'),
  'an invoke that throws': failsWith('protocol', `throw new Error('oops');`),
  'an invoke that throws no error': failsWith('protocol', 'throw undefined;'),
  'an invoke that claims that the caller has gone': failsWith(
    'protocol',
    `throw new ProviderFailure('cancelled', 'bye');`,
  ),
  'an outcome that is none': failsWith('protocol', 'return null;'),
  'a status that is none': failsWith('protocol', 'return { ...answer(), status: 42 };'),
  'a status that is text': failsWith('protocol', `return { ...answer(), status: '200' };`),
  'no headers': failsWith('protocol', 'return { ...answer(), headers: null };'),
  'a header that ends its line': failsWith(
    'protocol',
    `return { ...answer(), headers: { ...answer().headers, 'x-a': 'b\\r\\nset-cookie: c=d' } };`,
  ),
  'a header name that ends its line': failsWith(
    'protocol',
    `return { ...answer(), headers: { ...answer().headers, 'a: b\\r\\nc': 'd' } };`,
  ),
  'a header that is a list': failsWith(
    'protocol',
    `return { ...answer(), headers: { ...answer().headers, 'x-a': ['b'] } };`,
  ),
  'headers without end': failsWith(
    'protocol',
    `return { ...answer(), headers: { ...answer().headers, 'x-a': 'b'.repeat(70_000) } };`,
  ),
  'a body that is text': failsWith('protocol', `return { ...answer(), body: '{}' };`),
  'a body that is too long': failsWith(
    'protocol',
    'return { ...answer(), body: Buffer.alloc(5_000_000, 32) };',
  ),
  'pieces of a body of which one is text': failsWith(
    'protocol',
    `return { ...answer(), body: [Buffer.from('{'), '}'] };`,
  ),
  'pieces of a body that are too long together': failsWith(
    'protocol',
    'return { ...answer(), body: [Buffer.alloc(2_500_000, 32), Buffer.alloc(2_500_000, 32)] };',
  ),
  'an outcome whose members throw': failsWith(
    'protocol',
    `return { get status() { throw new Error('oops'); } };`,
  ),
  'a then that throws': failsWith('protocol', `return { then() { throw new Error('oops'); } };`),
  'a call that would end the process': failsWith('protocol', 'process.exit(0);'),
  'errors without end in a timer': failsWith(
    'timeout',
    `setInterval(() => { throw new Error('stray'); }, 1); await new Promise(() => {});`,
  ),
  'rejections without end': failsWith(
    'timeout',
    `setInterval(() => void Promise.reject(new Error('stray')), 1); await new Promise(() => {});`,
  ),
};
