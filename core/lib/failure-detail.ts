import { isProviderFailure } from '../contract/index.js';
import { nameError } from './name-error.js';

const MAX_LENGTH = 200;
const CUT = '…';
/** A terminal that shows a log interprets these. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;
/** `user:password@` of a URL. */
const USER_INFO = /\/\/[^/\s@]*@/g;

/**
 * Describes the failure of a call for operators, never for the client. Adapters are third-party
 * code.
 */
export function describeFailure(error: unknown): string {
  if (!isProviderFailure(error)) return `adapter threw ${nameError(error)}`;
  // A plugin may have an older copy of the contract, without `detail`.
  const { detail, message }: { detail?: unknown; message: unknown } = error;
  return cleanDetail(typeof detail === 'string' && detail !== '' ? detail : String(message));
}

/** Returns one line of at most 200 characters, without the credentials of a URL. */
export function cleanDetail(text: string): string {
  // Cut first, because the cost of the rest depends on the length.
  const start = text.slice(0, 2 * MAX_LENGTH);
  const line = start.replace(CONTROL_CHARACTERS, ' ').replace(USER_INFO, '//').trim();
  if (line.length <= MAX_LENGTH) return line.toWellFormed();
  return `${line.slice(0, MAX_LENGTH - CUT.length)}${CUT}`.toWellFormed();
}
