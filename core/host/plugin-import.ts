import { pathToFileURL } from 'node:url';
import { CONTRACT_VERSION, isAdapter, type ProviderAdapter } from '../contract/index.js';
import { PluginError } from './plugin-error.js';
import type { PluginManifest } from './plugin-manifest.js';

/** A top-level `await` that never ends must not keep the host from serving with the other plugins. */
const IMPORT_TIMEOUT_MS = 5_000;

/**
 * Runs the code of a plugin, for the first time and the last: Node keeps what it has imported.
 * @throws PluginError at the stages `import`, `export`, `contract` and `kinds`.
 */
export async function importPlugin(
  plugin: PluginManifest,
): Promise<ReadonlyMap<string, ProviderAdapter>> {
  const exported = await importInTime(plugin);
  const adapters = new Map<string, ProviderAdapter>();
  for (const adapter of readAdapters(plugin, exported)) {
    judgeAdapter(plugin, adapter);
    adapters.set(adapter.kind, adapter);
  }
  const missing = plugin.kinds.filter((kind) => !adapters.has(kind));
  if (missing.length > 0) {
    const trouble = `has no adapter for the kind '${missing.join("', '")}' of its plugin.json`;
    throw new PluginError(plugin.name, 'kinds', trouble, describeKinds(adapters));
  }
  return adapters;
}

async function importInTime(plugin: PluginManifest): Promise<Record<string, unknown>> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const trouble = `did not end its import within ${IMPORT_TIMEOUT_MS} ms`;
      const hint = "does it wait for something at its top level? that belongs into 'open'";
      reject(new PluginError(plugin.name, 'import', trouble, hint));
    }, IMPORT_TIMEOUT_MS);
  });
  try {
    const url = pathToFileURL(plugin.entryPath).href;
    return (await Promise.race([import(url), tooLate])) as Record<string, unknown>;
  } catch (error) {
    throw error instanceof PluginError ? error : explainThrow(plugin, error);
  } finally {
    clearTimeout(timer);
  }
}

function explainThrow(plugin: PluginManifest, cause: unknown): PluginError {
  const message = cause instanceof Error ? cause.message : 'it threw something that is no error';
  const isMissing = (cause as NodeJS.ErrnoException | null)?.code === 'ERR_MODULE_NOT_FOUND';
  const hint = isMissing ? 'install its dependencies in its folder' : 'the cause is in the log';
  const trouble = `cannot be imported: ${message}`;
  return new PluginError(plugin.name, 'import', trouble, hint, { cause });
}

function readAdapters(plugin: PluginManifest, exported: Record<string, unknown>): unknown[] {
  const value = exported['default'];
  const hint = 'export default { adapters: [defineAdapter({ … })] }';
  if (value === undefined) {
    throw new PluginError(plugin.name, 'export', 'has no default export', hint);
  }
  const adapters = (value as { readonly adapters?: unknown } | null)?.adapters;
  if (Array.isArray(adapters)) return adapters;
  throw new PluginError(plugin.name, 'export', "has a default export without 'adapters'", hint);
}

function judgeAdapter(
  plugin: PluginManifest,
  adapter: unknown,
): asserts adapter is ProviderAdapter {
  if (!isAdapter(adapter)) {
    const trouble = 'exports an adapter that is not branded';
    throw new PluginError(plugin.name, 'export', trouble, "make it with 'defineAdapter'");
  }
  if (adapter.contract !== CONTRACT_VERSION) {
    const trouble = `exports an adapter for another contract, this host has ${CONTRACT_VERSION}`;
    const hint = "is a 'modgate' of another version installed in its folder?";
    throw new PluginError(plugin.name, 'contract', trouble, hint);
  }
  if (typeof adapter.open !== 'function' || typeof adapter.config?.validate !== 'function') {
    const trouble = "exports an adapter without 'open' or 'config'";
    throw new PluginError(plugin.name, 'export', trouble, null);
  }
}

function describeKinds(adapters: ReadonlyMap<string, ProviderAdapter>): string {
  const kinds = [...adapters.keys()];
  return kinds.length === 0 ? 'it exports none' : `it exports ${kinds.join(', ')}`;
}
