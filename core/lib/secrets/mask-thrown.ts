import type { Secret } from '../../contract/index.js';
import { toError } from '../to-error.js';
import { createSecretMask, type Mask, mayBeCut } from './mask-secrets.js';

/** The shortest line of a secret by which it is found. Characters. */
const MIN_LINE = 16;

/**
 * Creates the mask of texts that may have a single line of a secret, such as a log: a secret of several lines, such as
 * a private key, is found by each of them.
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

/** What the host reads of an error besides its message and its cause. */
const MEMBERS = ['name', 'stack', 'code', 'hint'];
/** Deeper causes are a mistake, perhaps a cycle. */
const MAX_CAUSES = 6;

/**
 * Removes credentials from all texts of an error that a plugin threw while it opened, and from its causes. Never
 * throws, although the getters of the error may.
 * @returns a copy with what the host reads of the error
 */
export function maskThrown(thrown: unknown, mask: Mask, maxCauses = MAX_CAUSES): Error {
  const maskText = (text: string) => mask(text, mayBeCut(text));
  const maskCause = (cause: unknown) => {
    if (typeof cause === 'string') return maskText(cause);
    return cause instanceof Error && maxCauses > 0
      ? maskThrown(cause, mask, maxCauses - 1)
      : undefined;
  };
  try {
    const error = toError(thrown);
    const copy = new Error(maskText(`${error.message}`), { cause: maskCause(error.cause) });
    for (const name of MEMBERS) {
      const value: unknown = Reflect.get(error, name);
      if (typeof value === 'string') Object.assign(copy, { [name]: maskText(value) });
    }
    return copy;
  } catch {
    return new Error('it threw an error that cannot be read');
  }
}
