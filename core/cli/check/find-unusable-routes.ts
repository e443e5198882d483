import { resolve } from 'node:path';
import {
  createDiagnostic,
  type Diagnostic,
  type DocumentSource,
} from '../../document/diagnostic.js';
import { readModuleProblems } from '../../document/module-problems.js';
import { readStructuredText } from '../../document/parse-document.js';
import { readTextFile } from '../../document/read-file.js';
import { listProviderRoutes } from '../../manifest/adapter-operations.js';
import type { PreparedDescriptor } from '../../modules/prepare-descriptor.js';
import { UnpreparedDescriptor } from '../../modules/unprepared-descriptor.js';

/**
 * Warns of routes of a local manifest that no call can use, by the config and its files.
 * @throws UnpreparedDescriptor for files with which the adapter opens no provider.
 */
export async function findUnusableRoutes(prepared: PreparedDescriptor): Promise<Diagnostic[]> {
  const { adapter, descriptor, manifest, references, files } = prepared;
  if (manifest === null || adapter.checkRoutes === undefined) return [];
  const { module, mount: mounts, provider } = descriptor;
  const routes = listProviderRoutes(manifest.manifest, adapter);
  try {
    const found = await adapter.checkRoutes(provider.config, routes, references);
    const problems = readModuleProblems(() => found, []);
    if (problems.length === 0) return [];
    const source = await readManifestSource(prepared);
    return problems.map((problem) => createDiagnostic(problem, source, 'warning'));
  } catch (cause) {
    throw new UnpreparedDescriptor(cause, { module, files, mounts });
  }
}

async function readManifestSource(prepared: PreparedDescriptor): Promise<DocumentSource> {
  const { file, locate, baseDir, descriptor } = prepared;
  if (descriptor.manifest.kind !== 'file') return { file, locate, prefix: ['manifest', 'inline'] };
  const { path } = descriptor.manifest;
  const text = await readTextFile(resolve(baseDir, path));
  return { file: path, locate: readStructuredText(path, text).locate };
}
