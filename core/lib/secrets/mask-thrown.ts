import type { Secret } from '../../contract/index.js';
import { toError } from '../to-error.js';
import { createSecretMask, type Mask, mayBeCut } from './mask-secrets.js';

/** The shortest line of a secret by which it is found. Characters. */
const MIN_LINE = 16;

/**
 * Creates the mask of a log to which texts are written by line: a secret of several lines, such as a private key, is
 * found by each of them.
 */
export function createLogMask(secrets: readonly Secret[]): Mask {
  const isSecret = (line: string) => line.length >= MIN_LINE && !line.startsWith('-----');
  return createSecretMask(
    secrets.flatMap((secret) => {
      const text = secret.reveal();
      return [text, ...text.split(/\r?\n/).filter(isSecret)];
    }),
  );
}

/** Removes credentials from the message of an error that a plugin threw while it opened. */
export function maskMessage(error: unknown, mask: Mask): unknown {
  const { message } = toError(error);
  const masked = mask(message, mayBeCut(message));
  return masked === message ? error : new Error(masked);
}
