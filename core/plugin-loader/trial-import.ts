import { Worker } from 'node:worker_threads';
import { limitImport } from '../contract/import-timeout.js';
import { createImportTimeout, type ImportedPlugin, REPORT_HINT } from './import-plugin.js';
import { PluginError, type PluginStage } from './plugin-error.js';

const MAX_HEAP_MB = 512;

/** The message of the worker thread. */
export type TrialResult =
  | { readonly kind: 'passed' }
  | {
      readonly kind: 'refused';
      readonly stage: PluginStage;
      readonly problem: string;
      readonly hint: string | null;
    };

/**
 * Imports a plugin in a disposable worker thread first. An import that loops, exits, exhausts memory or
 * throws later ends only that thread, and can be corrected while the host runs.
 * @throws PluginError when the import failed.
 */
export async function tryImport(plugin: ImportedPlugin): Promise<void> {
  const { name, origin, entryPath } = plugin;
  const { kinds, authenticators, surfaces, signers, importers } = plugin;
  const worker = new Worker(new URL('./trial-import-worker.js', import.meta.url), {
    workerData: {
      name,
      origin,
      entryPath,
      kinds,
      authenticators,
      surfaces,
      signers,
      importers,
    } satisfies ImportedPlugin,
    // Output of the import must not mix with the log of the host.
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  try {
    await readTrialResult(worker, plugin);
  } finally {
    // Not awaited: the thread may be in an endless loop.
    void worker.terminate();
  }
}

function readTrialResult(worker: Worker, plugin: ImportedPlugin): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (error: PluginError | null) => {
      endLimit();
      if (error === null) resolve();
      else reject(error);
    };
    const endLimit = limitImport(worker.performance, (limitMs) =>
      end(createImportTimeout(plugin.name, limitMs)),
    );
    worker.once('message', (result: TrialResult) => {
      const isPassed = result.kind === 'passed';
      end(isPassed ? null : createTrialError(plugin, result.stage, result.problem, result.hint));
    });
    worker.once('error', (error) => end(explainUncaughtError(plugin, error)));
    worker.once('exit', () =>
      end(createImportError(plugin, 'exits the process during its import')),
    );
    worker.stdout.resume();
    worker.stderr.resume();
  });
}

function explainUncaughtError(plugin: ImportedPlugin, error: unknown): PluginError {
  const { code, message } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return createImportError(plugin, `needs more than ${MAX_HEAP_MB} MiB for its import`);
  }
  const description = message ?? 'a value that is not an error';
  return createImportError(plugin, `has an uncaught error during its import: ${description}`);
}

function createImportError(plugin: ImportedPlugin, problem: string): PluginError {
  return createTrialError(plugin, 'import', problem, REPORT_HINT);
}

function createTrialError(
  { name }: ImportedPlugin,
  stage: PluginStage,
  problem: string,
  hint: string | null,
): PluginError {
  return new PluginError(name, stage, problem, hint);
}
