import { adapterSource, CONTRACT_URL, type PluginFixture } from './write-plugin.js';

/** A plugin with one error, and the expected states of the plugin and a module of its kind. */
export interface BadPlugin extends Omit<PluginFixture, 'name'> {
  /** Whether its entry is a symbolic link to a file outside its folder. */
  readonly isLinkedOutside?: true;
  /** The reason in `GET /plugins`; absent if the plugin is loaded. */
  readonly refused?: RegExp;
  /** The module in `GET /modules`. */
  readonly module:
    | { readonly state: 'refused' | 'waiting'; readonly reason: RegExp }
    /** The module serves, but calls fail. */
    | { readonly failure: 'timeout' | 'protocol' };
  /** Further keys of the module's descriptor. */
  readonly descriptor?: object;
}

const BRAND = `[Symbol.for('modgate.adapter')]: true`;
const NEWER_CONTRACT = 2;
const NO_KIND = /^[^:]+:1:\d+ 'provider.kind' |no plugin has that kind/;

const rejection = (reason: RegExp) =>
  ({ refused: reason, module: { state: 'refused', reason } }) as const;
const failsWith = (failure: 'timeout' | 'protocol', invoke: string) =>
  ({ entry: adapterSource('KIND', { invoke }), module: { failure } }) as const;
const opens = (open: string, reason: RegExp) =>
  ({ entry: adapterSource('KIND', { open }), module: { state: 'refused', reason } }) as const;

/**
 * Plugins by error. `KIND` in an entry is replaced by the name of the plugin, which is its kind.
 */
export const BAD_PLUGINS: Readonly<Record<string, BadPlugin>> = {
  'a plugin.json that is not JSON': {
    manifest: '{"name": KIND}',
    entry: adapterSource('KIND'),
    refused: /has a bad plugin\.json:1:10: /,
    module: { state: 'refused', reason: NO_KIND },
  },
  'a plugin.json with an unknown key': {
    manifest: { entri: './index.mjs' },
    entry: adapterSource('KIND'),
    ...rejection(/has a bad plugin\.json:1:\d+: unknown key 'entri'/),
  },
  'a newer contract': {
    manifest: { contract: NEWER_CONTRACT },
    entry: adapterSource('KIND'),
    ...rejection(new RegExp(`is written for contract ${NEWER_CONTRACT}, this host has 1`)),
  },
  'a missing entry': { entry: null, ...rejection(/has no file '\.\/index\.mjs'/) },
  'an entry outside of its folder': {
    manifest: { entry: './../good/index.mjs' },
    entry: null,
    ...rejection(/has an entry outside of its folder/),
  },
  'an entry that is a link to a file outside': {
    entry: null,
    isLinkedOutside: true,
    ...rejection(/has an entry outside of its folder/),
  },
  'the kind of another plugin': {
    manifest: { kinds: ['KIND', 'good'] },
    entry: adapterSource('KIND'),
    ...rejection(/has the kind 'good' of plugin 'good', which keeps it/),
  },
  'the name of another plugin': {
    manifest: { name: 'good' },
    entry: adapterSource('KIND'),
    refused: /plugin 'good' in .* has the name of the one in /,
    module: { state: 'refused', reason: /has the name of the one in/ },
  },
  'a dependency that is not installed': {
    entry: `import 'modgate-no-such-package';`,
    ...rejection(/cannot be imported: Cannot find package 'modgate-no-such-package'/),
  },
  'a missing file of its own': {
    entry: `import './lib.mjs';`,
    ...rejection(/cannot be imported: Cannot find module/),
  },
  'an import that throws': {
    entry: `throw new Error('no license');`,
    ...rejection(/cannot be imported: no license/),
  },
  'an import that throws null': {
    entry: 'throw null;',
    ...rejection(/cannot be imported: it threw a value that is not an error/),
  },
  'a syntax error': { entry: 'export default {', ...rejection(/cannot be imported: Unexpected/) },
  'an import that never ends': {
    entry: 'await new Promise((resolve) => setTimeout(resolve, 2 ** 30));',
    ...rejection(/did not finish its import within 5000 ms/),
  },
  'an import without pending work': {
    entry: 'await new Promise(() => {});',
    ...rejection(/did not finish its import within 5000 ms|exits the process during its import/),
  },
  'an endless loop in an import': {
    entry: 'for (;;);',
    ...rejection(/did not finish its import within 25000 ms/),
  },
  'an import that ends the process': {
    entry: 'process.exit(0);',
    ...rejection(/exits the process during its import/),
  },
  'an import that exhausts memory': {
    entry: 'const all = []; for (;;) all.push(new Array(100_000).fill(0).map((_, i) => ({ i })));',
    ...rejection(
      /needs more than 512 MiB for its import|did not finish its import within 25000 ms/,
    ),
  },
  'an import whose timer throws': {
    entry: `setTimeout(() => { throw new Error('late'); }, 1);
      await new Promise((resolve) => setTimeout(resolve, 1000));`,
    ...rejection(/has an uncaught error during its import: late/),
  },
  'no default export': { entry: 'export const a = 1;', ...rejection(/has no default export/) },
  'what a compiler makes of a default export in CommonJS': {
    entry: 'export default { default: { adapters: [] } };',
    ...rejection(/has a default export without 'adapters': it is CommonJS/),
  },
  'a default export without adapters': {
    entry: 'export default { adaptors: [] };',
    ...rejection(/has a default export without 'adapters'/),
  },
  'an adapter without a brand': {
    entry: `export default { adapters: [{ kind: 'KIND', contract: 1 }] };`,
    ...rejection(/exports an adapter that is not branded/),
  },
  'an adapter for another contract': {
    entry: `export default { adapters: [{ kind: 'KIND', contract: 7, ${BRAND} }] };`,
    ...rejection(/exports an adapter for another contract, this host has 1/),
  },
  'an adapter that cannot open': {
    entry: `export default { adapters: [{ kind: 'KIND', contract: 1, ${BRAND} }] };`,
    ...rejection(/exports the adapter '[a-z0-9-]+' without 'open': it must be a function/),
  },
  'another kind than it declares': {
    entry: adapterSource('other'),
    ...rejection(/has no adapter for the kind '[a-z0-9-]+' of its plugin\.json/),
  },
  'a kind that it does not declare': {
    entry: `import { defineAdapter } from '${CONTRACT_URL}';
      const make = (kind) => defineAdapter({ kind, config: { validate: (value) => [undefined, value] }, supports: {}, open: () => ({}) });
      export default { adapters: [make('KIND'), make('http')] };`,
    ...rejection(/exports an adapter of the kind 'http', which its plugin\.json does not name/),
  },

  'an open that throws': opens(`throw new Error('no license');`, /no license/),
  'an open that never ends': opens('await new Promise(() => {});', /did not open within 30000 ms/),
  'an open that returns null': opens('return null;', /'open' must return an object/),
  'a provider that cannot be invoked': opens(
    'return { manifest: async () => Buffer.from("{}"), check: async () => {} };',
    /opened an invalid provider: 'invoke' must be a function/,
  ),
  'endpoints without ids': {
    entry: adapterSource('KIND', { provider: 'endpoints: () => [{ weight: 1 }],' }),
    module: {
      state: 'refused',
      reason: /opened an invalid provider: missing key 'id' in 'endpoints\[0\]'/,
    },
  },
  'two endpoints with one id': {
    entry: adapterSource('KIND', {
      provider: "endpoints: () => [{ id: 'a', weight: 1 }, { id: 'a', weight: 1 }],",
    }),
    module: { state: 'refused', reason: /'endpoints' must be a list of endpoints with different/ },
  },
  'an endpoint with a weight without an end': {
    entry: adapterSource('KIND', {
      provider: "endpoints: () => [{ id: 'a', weight: Infinity }],",
    }),
    module: { state: 'refused', reason: /'endpoints\[0\]\.weight' must be a whole number/ },
  },
  'checks every 0 ms': {
    entry: adapterSource('KIND', {
      provider: `balancing: () => ({ strategy: 'round_robin', hashHeader: null,
        health: { intervalMs: 0, timeoutMs: 1, failures: 1, successes: 1 } }),`,
    }),
    module: { state: 'refused', reason: /'balancing\.health\.intervalMs' must be a whole number/ },
  },
  'an unknown strategy': {
    entry: adapterSource('KIND', {
      provider: "balancing: () => ({ strategy: 'by_lot', hashHeader: null, health: null }),",
    }),
    module: {
      state: 'refused',
      reason: /'balancing\.strategy' must be one of round_robin, least_/,
    },
  },
  'a manifest that is not bytes': {
    entry: adapterSource('KIND', {
      provider: 'manifest: async () => ({}),',
    }),
    descriptor: { manifest: { from: 'provider' } },
    module: { state: 'refused', reason: /the adapter must return the manifest as bytes of JSON/ },
  },
  'no manifest, ever': {
    entry: adapterSource('KIND', {
      provider:
        "manifest: async () => { throw new ProviderFailure('protocol', 'none', { phase: 'preparing' }); },",
    }),
    descriptor: { manifest: { from: 'provider' } },
    module: { state: 'refused', reason: /the provider gave no manifest \(protocol\): none/ },
  },
  'a manifest that never arrives': {
    entry: adapterSource('KIND', { provider: 'manifest: () => new Promise(() => {}),' }),
    descriptor: { manifest: { from: 'provider' } },
    module: { state: 'waiting', reason: /the provider gave no manifest \(timeout\)/ },
  },

  'an invoke that never settles': failsWith('timeout', 'await new Promise(() => {});'),
  'an invoke that throws': failsWith('protocol', `throw new Error('oops');`),
  'an invoke that throws undefined': failsWith('protocol', 'throw undefined;'),
  'an invoke that reports a disconnected client': failsWith(
    'protocol',
    `throw new ProviderFailure('cancelled', 'bye');`,
  ),
  'a null outcome': failsWith('protocol', 'return null;'),
  'an invalid status': failsWith('protocol', 'return { ...answer(), status: 42 };'),
  'a status that is text': failsWith('protocol', `return { ...answer(), status: '200' };`),
  'no headers': failsWith('protocol', 'return { ...answer(), headers: null };'),
  'headers that are no plain object': failsWith(
    'protocol',
    `return { ...answer(), headers: new Headers({ 'content-type': 'application/json' }) };`,
  ),
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
  'too many header bytes': failsWith(
    'protocol',
    `return { ...answer(), headers: { ...answer().headers, 'x-a': 'b'.repeat(70_000) } };`,
  ),
  'a body that is text': failsWith('protocol', `return { ...answer(), body: '{}' };`),
  'a body that is too long': failsWith(
    'protocol',
    'return { ...answer(), body: Buffer.alloc(5_000_000, 32) };',
  ),
  'a text among the pieces of a body': failsWith(
    'protocol',
    `return { ...answer(), body: [Buffer.from('{'), '}'] };`,
  ),
  'pieces of a body that exceed the limit together': failsWith(
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
    `setInterval(() => { throw new Error('late'); }, 1); await new Promise(() => {});`,
  ),
  'rejections without end': failsWith(
    'timeout',
    `setInterval(() => void Promise.reject(new Error('late')), 1); await new Promise(() => {});`,
  ),
};
