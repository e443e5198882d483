import { createHash } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import type { LocalHandler, LocalModule } from './handler.js';

/** A top-level `await` that never ends must not keep the host from serving the other modules. */
export const IMPORT_TIMEOUT_MS = 5_000;

export interface LocalFile {
  /** As the config has it: how messages name the file. */
  readonly name: string;
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** How a thread imports: it ends with its code, and nobody else has imported any in it. */
export function importInThread(name: string, path: string): Promise<LocalModule> {
  return readModule(name, () => import(pathToFileURL(path).href));
}

let imports = 0;

/**
 * Runs the file anew for each open: what it keeps in variables belongs to one version of one module, so
 * two modules may share a file, and the old version may close while the new one serves. Node never
 * forgets an imported module, so each open costs memory for good (design 4).
 * @throws Error that names the file, when it cannot be imported or exports something else than it should.
 */
export async function importModule(file: LocalFile): Promise<LocalModule> {
  imports += 1;
  const digest = createHash('sha256').update(file.bytes).digest('hex');
  const url = `${pathToFileURL(file.path).href}?v=${digest}.${imports}`;
  return readModule(file.name, () => importInTime(url));
}

/** What a file says that did not end its top level in time. */
export function describeLateImport(): string {
  return `its top level did not end within ${IMPORT_TIMEOUT_MS} ms`;
}

export function explainImport(name: string, why: string): string {
  return `file '${name}' cannot be imported: ${why}`;
}

async function importInTime(url: string): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(describeLateImport())), IMPORT_TIMEOUT_MS);
  });
  try {
    return await Promise.race([import(url), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

async function readModule(name: string, load: () => Promise<unknown>): Promise<LocalModule> {
  const exported = await loadOrExplain(name, load);
  const handle = exported['default'];
  if (typeof handle !== 'function') {
    throw new Error(`file '${name}' must export a function as its default`);
  }
  return {
    handle: handle as LocalHandler,
    ...pickFunction(exported, 'configure', name),
    ...pickFunction(exported, 'close', name),
    ...(exported['manifest'] !== undefined && { manifest: exported['manifest'] }),
  };
}

async function loadOrExplain(
  name: string,
  load: () => Promise<unknown>,
): Promise<Record<string, unknown>> {
  try {
    return (await load()) as Record<string, unknown>;
  } catch (cause) {
    throw new Error(explainImport(name, describe(cause)), { cause });
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

function describe(error: unknown): string {
  return error instanceof Error ? error.message : 'it threw something that is no error';
}
