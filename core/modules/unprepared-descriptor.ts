import { MODULE_NAME } from '../descriptor/identifiers.js';
import type { Mount } from '../descriptor/sections/mount.js';
import { readStructuredText } from '../document/parse-document.js';
import type { DirectoryFile } from '../watch/directory.js';

/** A descriptor that cannot be used; the reason is its `cause`. */
export class UnpreparedDescriptor extends Error {
  override readonly name = 'UnpreparedDescriptor';
  /** The module that it configures; `null` if the name could not be read. */
  readonly module: string | null;
  /** Files whose change may make it valid, absolute. */
  readonly files: readonly string[];
  /** The mounts as far as they can be read. */
  readonly mounts: readonly Mount[];

  constructor(
    cause: unknown,
    { module, files, mounts }: Pick<UnpreparedDescriptor, 'module' | 'files' | 'mounts'>,
  ) {
    super('the descriptor cannot be used', { cause });
    this.module = module;
    this.files = files;
    this.mounts = mounts;
  }
}

/** The module name in an invalid descriptor, for operators; `null` if there is none. */
export function readModuleName(entry: DirectoryFile): string | null {
  if ('diagnostic' in entry) return null;
  try {
    const { value } = readStructuredText(entry.file, entry.text);
    const name = typeof value === 'object' && value !== null ? Reflect.get(value, 'module') : null;
    return typeof name === 'string' && MODULE_NAME.test(name) ? name : null;
  } catch {
    return null;
  }
}
