import { parentPort, workerData } from 'node:worker_threads';
import { type ImportedPlugin, importPlugin } from './import-plugin.js';
import { PluginError } from './plugin-error.js';
import type { TrialResult } from './trial-import.js';

parentPort?.postMessage(await tryImport(workerData as ImportedPlugin));

async function tryImport(plugin: ImportedPlugin): Promise<TrialResult> {
  try {
    await importPlugin(plugin);
    return { kind: 'passed' };
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    // Some native addons load in the main thread only, so the host tries this import itself.
    const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
    if (code === 'ERR_DLOPEN_FAILED') return { kind: 'passed' };
    const { stage, problem, hint } = error;
    return { kind: 'refused', stage, problem, hint };
  }
}
