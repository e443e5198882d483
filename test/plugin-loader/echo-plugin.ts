import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { PluginError, type PluginStage } from '../../core/plugin-loader/plugin-error.js';
import { type PluginRegistry, readPlugins } from '../../core/plugin-loader/plugin-registry.js';
import { createFolder } from '../support/temporary-folder.js';

export const CONTRACT = pathToFileURL(
  fileURLToPath(new URL('../../core/contract/index.js', import.meta.url)),
).href;

/** The source of an entry with an adapter for each kind. */
export function entryOf(...kinds: readonly string[]): string {
  return `import { defineAdapter } from ${JSON.stringify(CONTRACT)};
    globalThis.imported = (globalThis.imported ?? 0) + 1;
    const config = { validate: (value) => [undefined, value] };
    const adapters = ${JSON.stringify(kinds)}.map((kind) =>
      defineAdapter({ kind, config, supports: {}, open: () => ({}) }));
    export default { adapters };`;
}

export const VALID = {
  name: 'echo',
  version: '1.0.0',
  contract: 1,
  kinds: ['echo'],
  entry: './index.mjs',
};

/** One plugin, `echo`, with these members of its plugin.json changed. */
export const readEcho = (
  changes: object,
  entry = entryOf('echo'),
  others = {},
): Promise<PluginRegistry> =>
  readPlugins([
    createFolder({
      'echo/plugin.json': JSON.stringify({ ...VALID, ...changes }),
      'echo/index.mjs': entry,
      ...others,
    }),
  ]);

export async function rejectionOf(registry: PluginRegistry, kind = 'echo'): Promise<PluginError> {
  try {
    await registry.adapter(kind);
  } catch (error) {
    if (error instanceof PluginError) return error;
    throw error;
  }
  return expect.fail('expected the plugin to be rejected');
}

export async function expectRejection(
  registry: PluginRegistry,
  stage: PluginStage,
  message: string,
) {
  const error = await rejectionOf(registry);
  expect([error.stage, error.message]).to.deep.equal([stage, message]);
  const status = registry.list().find(({ name }) => name === error.plugin);
  expect(status?.state).to.equal('refused');
  expect(status?.reason).to.equal(error.reason);
}
