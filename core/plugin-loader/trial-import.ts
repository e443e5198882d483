import { Worker } from 'node:worker_threads';
import { createImportTimeout, IMPORT_TIMEOUT_MS, type ImportedPlugin } from './import-plugin.js';
import { PluginError, type PluginStage } from './plugin-error.js';

/** Of the rehearsal: what an import may take. */
const MAX_HEAP_MB = 512;

/** What the worker thread tells of an import. */
export type TrialResult =
  | { readonly kind: 'passed' }
  | {
      readonly kind: 'refused';
      readonly stage: PluginStage;
      readonly trouble: string;
      readonly hint: string | null;
    };

/**
 * Imports a plugin in a worker thread that is thrown away: an import that loops, exits, eats all memory or
 * leaves an error uncaught ends that thread, and what failed there can be mended while the host runs, as
 * Node has not kept it.
 * @throws PluginError when the import is not to be tried in the host.
 */
export async function tryImport(plugin: ImportedPlugin): Promise<void> {
  const { name, entryPath, kinds, authenticators } = plugin;
  const worker = new Worker(new URL('./trial-import-worker.js', import.meta.url), {
    workerData: { name, entryPath, kinds, authenticators } satisfies ImportedPlugin,
    // What a plugin prints when it is imported would be no log line of the host's.
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  try {
    await readTrialResult(worker, plugin);
  } finally {
    // It may be in an endless loop; nobody waits for it.
    void worker.terminate();
  }
}

function readTrialResult(worker: Worker, plugin: ImportedPlugin): Promise<void> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const end = (error: PluginError | null) => {
      clearTimeout(timer);
      if (error === null) resolve();
      else reject(error);
    };
    // The thread's own start is no fault of the plugin.
    worker.once('online', () => {
      timer = setTimeout(() => end(createImportTimeout(plugin.name)), IMPORT_TIMEOUT_MS);
    });
    worker.once('message', (result: TrialResult) => {
      const isPassed = result.kind === 'passed';
      end(isPassed ? null : createTrialError(plugin, result.stage, result.trouble, result.hint));
    });
    worker.once('error', (error) => end(explainError(plugin, error)));
    worker.once('exit', () =>
      end(createImportError(plugin, 'ends the process when it is imported')),
    );
    worker.stdout.resume();
    worker.stderr.resume();
  });
}

function explainError(plugin: ImportedPlugin, error: unknown): PluginError {
  const { code, message } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return createImportError(plugin, `takes more than ${MAX_HEAP_MB} MiB to be imported`);
  }
  const what = message ?? 'something that is no error';
  return createImportError(plugin, `leaves an error uncaught when it is imported: ${what}`);
}

function createImportError(plugin: ImportedPlugin, trouble: string): PluginError {
  return createTrialError(plugin, 'import', trouble, 'its author has to mend it');
}

function createTrialError(
  { name }: ImportedPlugin,
  stage: PluginStage,
  trouble: string,
  hint: string | null,
): PluginError {
  return new PluginError(name, stage, trouble, hint);
}
