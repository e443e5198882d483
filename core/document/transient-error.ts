import { InvalidFile } from './diagnostic.js';

/** Codes of the system for a lack of resources, and for storage that does not answer. */
const PASSING: ReadonlySet<unknown> = new Set([
  'EMFILE',
  'ENFILE',
  'EIO',
  'ESTALE',
  'ENOMEM',
  'EAGAIN',
]);

/** The rule of a diagnostic about a file that can probably be read soon. */
export const BUSY_FILE = 'file-busy';

/** Whether the same work may succeed soon, although no file has changed. */
export function isPassing(error: unknown): boolean {
  if (error instanceof InvalidFile) return error.diagnostics.some(({ rule }) => rule === BUSY_FILE);
  if (!(error instanceof Error)) return false;
  return PASSING.has(Reflect.get(error, 'code')) || isPassing(error.cause);
}
