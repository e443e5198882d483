import { InvalidFile } from './diagnostic.js';

/** System error codes for a lack of resources, and for storage that does not respond. */
const TRANSIENT: ReadonlySet<unknown> = new Set([
  'EMFILE',
  'ENFILE',
  'EIO',
  'ESTALE',
  'ENOMEM',
  'EAGAIN',
]);

/** The rule of a diagnostic about a file that cannot be read because of a transient error. */
export const BUSY_FILE = 'file-busy';

/** Whether the same work may succeed soon, although no file has changed. */
export function isTransient(error: unknown): boolean {
  if (error instanceof InvalidFile) return error.diagnostics.some(({ rule }) => rule === BUSY_FILE);
  if (!(error instanceof Error)) return false;
  return TRANSIENT.has(Reflect.get(error, 'code')) || isTransient(error.cause);
}
