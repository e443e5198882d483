import { createHash } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { explainImportError } from '../../core/contract/import-error.js';
import { importInTime } from '../../core/contract/import-timeout.js';
import { formatError } from '../shared/format-error.js';
import type { LocalHandler, LocalModule } from './handler.js';

interface FileName {
  /** The name as in the config; used in messages. */
  readonly name: string;
  readonly path: string;
}

interface LocalFile extends FileName {
  readonly bytes: Uint8Array;
}

/** Imports the file in its own thread, which ends with the module. */
export function importInThread(name: string, path: string): Promise<LocalModule> {
  return readModule({ name, path }, () => import(pathToFileURL(path).href));
}

/** Node.js keeps imported code until the process ends. */
const MAX_IMPORTS = 10_000;

let imports = 0;

/**
 * Imports the file again for each open, so that its variables belong to one version of one module: modules
 * can share a file, and an old version can close while the new one serves. Node keeps imported modules, so
 * each open uses memory permanently.
 * @throws Error that names the file, when it cannot be imported, its exports are invalid, or too much was imported.
 */
export async function importModule(
  file: LocalFile,
  maxImports: number = MAX_IMPORTS,
): Promise<LocalModule> {
  if (imports >= maxImports) {
    const reason = `the host has imported files ${maxImports} times: restart it`;
    throw new Error(explainImport(file.name, reason));
  }
  imports += 1;
  const digest = createHash('sha256').update(file.bytes).digest('hex');
  const url = `${pathToFileURL(file.path).href}?v=${digest}.${imports}`;
  return readModule(file, () =>
    importInTime(url, (limitMs) => new Error(describeLateImport(limitMs))),
  );
}

/** The reason for a file with a top level that did not end in time. */
export function describeLateImport(limitMs: number): string {
  return `its top level did not end within ${limitMs} ms`;
}

export function explainImport(name: string, reason: string): string {
  return `file '${name}' cannot be imported: ${reason}`;
}

async function readModule(file: FileName, load: () => Promise<unknown>): Promise<LocalModule> {
  const { name } = file;
  const exported = await loadOrExplain(file, load);
  const handle = exported['default'];
  if (typeof handle !== 'function') {
    const reason = isTranspiled(handle)
      ? ': it is CommonJS; compile it to an ES module (.mjs)'
      : '';
    throw new Error(`file '${name}' must export a function as its default${reason}`);
  }
  return {
    handle: handle as LocalHandler,
    ...pickFunction(exported, 'configure', name),
    ...pickFunction(exported, 'close', name),
    ...(exported['manifest'] !== undefined && { manifest: exported['manifest'] }),
  };
}

/** Whether it is `module.exports` with `exports.default`, as compilers of ES modules write it. */
function isTranspiled(exported: unknown): boolean {
  return typeof exported === 'object' && exported !== null && 'default' in exported;
}

async function loadOrExplain(
  { name, path }: FileName,
  load: () => Promise<unknown>,
): Promise<Record<string, unknown>> {
  try {
    return (await load()) as Record<string, unknown>;
  } catch (cause) {
    const reason = await explainImportError(formatError(cause), cause, path);
    throw new Error(explainImport(name, reason), { cause });
  }
}

function pickFunction<Name extends 'configure' | 'close'>(
  exported: Record<string, unknown>,
  name: Name,
  file: string,
): Pick<LocalModule, Name> | undefined {
  const value = exported[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'function') {
    throw new Error(`file '${file}' must export '${name}' as a function`);
  }
  return { [name]: value } as Pick<LocalModule, Name>;
}
