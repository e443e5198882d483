import { createHash } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import type { LocalHandler, LocalModule } from './handler.js';

/** A top-level `await` that never ends must not keep the host from serving the other modules. */
const IMPORT_TIMEOUT_MS = 5_000;

export interface LocalFile {
  /** As the config has it: how messages name the file. */
  readonly name: string;
  readonly path: string;
  readonly bytes: Uint8Array;
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
  const exported = await importInTime(
    `${pathToFileURL(file.path).href}?v=${digest}.${imports}`,
    file,
  );
  const handle = exported['default'];
  if (typeof handle !== 'function') {
    throw new Error(`file '${file.name}' must export a function as its default`);
  }
  return {
    handle: handle as LocalHandler,
    ...pickFunction(exported, 'configure', file),
    ...pickFunction(exported, 'close', file),
    ...(exported['manifest'] !== undefined && { manifest: exported['manifest'] }),
  };
}

async function importInTime(url: string, file: LocalFile): Promise<Record<string, unknown>> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`its top level did not end within ${IMPORT_TIMEOUT_MS} ms`)),
      IMPORT_TIMEOUT_MS,
    );
  });
  try {
    return (await Promise.race([import(url), tooLate])) as Record<string, unknown>;
  } catch (cause) {
    throw new Error(`file '${file.name}' cannot be imported: ${describe(cause)}`, { cause });
  } finally {
    clearTimeout(timer);
  }
}

function pickFunction<Name extends 'configure' | 'close'>(
  exported: Record<string, unknown>,
  name: Name,
  file: LocalFile,
): Pick<LocalModule, Name> | undefined {
  const value = exported[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'function') {
    throw new Error(`file '${file.name}' must export '${name}' as a function`);
  }
  return { [name]: value } as Pick<LocalModule, Name>;
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : 'it threw something that is no error';
}
