import { define, type Struct } from 'superstruct';

/** `env:NAME` or `file:PATH`; a path is relative to the descriptor (contract 6). */
export const SECRET_REFERENCE = /^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$/;

/** The name of {@link secretReference}, by which the host finds secrets in a config. */
export const SECRET_REFERENCE_TYPE = 'secret reference (env:NAME or file:PATH)';
/** The name of {@link fileReference}, by which the host finds files in a config. */
export const FILE_REFERENCE_TYPE = 'path of a file';

/** The host sets it while it looks for the references of a config; shared by all copies of the contract. */
const LISTENER = Symbol.for('modgate.reference-listener');

/**
 * Struct of a secret: `env:NAME` or `file:PATH`, never a value. The host resolves it before `open`
 * (one that cannot be resolved refuses the descriptor) and hands it out as `context.secret(reference)`.
 */
export function secretReference(): Struct<string, null> {
  return defineReference(
    SECRET_REFERENCE_TYPE,
    (value) => typeof value === 'string' && SECRET_REFERENCE.test(value),
  );
}

/**
 * Struct of a file that the config names: a path relative to the descriptor, `file:PATH` or
 * `env:NAME` (the content is then the variable's). The host reads it before `open`, at most 4 MiB, and
 * hands it out as `context.file(reference)`; a change of the file reloads the module.
 */
export function fileReference(): Struct<string, null> {
  return defineReference(
    FILE_REFERENCE_TYPE,
    (value) =>
      typeof value === 'string' &&
      value.length > 0 &&
      !value.includes('\n') &&
      !value.includes('\0'),
  );
}

function defineReference(type: string, isValid: (value: unknown) => boolean): Struct<string, null> {
  return define<string>(type, (value, { path }) => {
    if (!isValid(value)) return false;
    (globalThis as { [LISTENER]?: (type: string, text: unknown, path: unknown) => void })[
      LISTENER
    ]?.(type, value, path);
    return true;
  });
}
