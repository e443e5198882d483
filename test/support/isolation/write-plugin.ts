import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The URL of the contract, for plugins outside this repository. */
export const CONTRACT_URL = new URL('../../../core/contract/index.js', import.meta.url).href;

export const SUPERSTRUCT_URL = import.meta.resolve('superstruct');

export interface PluginFixture {
  /** The name of its folder, and of its `plugin.json` unless `manifest` has another. */
  readonly name: string;
  /** Merged into a valid `plugin.json`. A text is the whole file. */
  readonly manifest?: object | string;
  /** The source of `index.mjs`; `null` for no file. */
  readonly entry: string | null;
  readonly files?: Readonly<Record<string, string | Buffer>>;
}

/** Writes `<folder>/<name>/`, with `plugin.json` last. @returns its path */
export function writePlugin(folder: string, fixture: PluginFixture): string {
  const { name, manifest = {}, entry, files = {} } = fixture;
  const folderOfPlugin = join(folder, name);
  mkdirSync(folderOfPlugin, { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folderOfPlugin, path)), { recursive: true });
    writeFileSync(join(folderOfPlugin, path), content);
  }
  if (entry !== null) writeFileSync(join(folderOfPlugin, 'index.mjs'), entry);
  const good = { name, version: '1.0.0', contract: 1, kinds: [name], entry: './index.mjs' };
  const text = typeof manifest === 'string' ? manifest : JSON.stringify({ ...good, ...manifest });
  writeFileSync(join(folderOfPlugin, 'plugin.json'), text);
  return folderOfPlugin;
}

/**
 * The source of an entry with one adapter of this kind. Each part is the source of an expression or of
 * statements. Omitted parts are valid.
 */
export function adapterSource(
  kind: string,
  parts: {
    readonly before?: string;
    /** Statements of `open`, with `config` and `context` in scope. */
    readonly open?: string;
    /** Statements of `invoke`, with `invocation` in scope too. */
    readonly invoke?: string;
    /** Further members of the provider. */
    readonly provider?: string;
  } = {},
): string {
  const { before = '', open = '', invoke = '', provider = '' } = parts;
  return `import { defineAdapter, ProviderFailure } from ${JSON.stringify(CONTRACT_URL)};
import { any } from ${JSON.stringify(SUPERSTRUCT_URL)};
import { EventEmitter } from 'node:events';
import net from 'node:net';
const later = (work) => setTimeout(work, 5);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const answer = () => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{"ok":true}'),
});
${before}
export default {
  adapters: [
    defineAdapter({
      kind: ${JSON.stringify(kind)},
      config: any(),
      supports: { manifest: true },
      open: async (config, context) => {
        ${open}
        return {
          manifest: async () => Buffer.from(JSON.stringify({
            protocol: 'modgate.manifest.v1',
            module_id: 'any',
            capabilities: ['any.use'],
            http_routes: [{ method: 'GET', path: '/{rest...}', capability: 'any.use' }],
          })),
          check: async () => {},
          invoke: async (invocation) => {
            ${invoke}
            return answer();
          },
          ${provider}
        };
      },
    }),
  ],
};
`;
}

/** A descriptor of the kind with the route `GET /{rest...}`. */
export function describeKind(module: string, kind: string, overrides: object = {}): object {
  return {
    module,
    provider: { kind, config: {} },
    manifest: {
      inline: {
        protocol: 'modgate.manifest.v1',
        module_id: module,
        capabilities: ['any.use'],
        http_routes: [{ method: 'GET', path: '/{rest...}', capability: 'any.use' }],
      },
    },
    ...overrides,
  };
}
