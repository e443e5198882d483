import { define, type Struct } from 'superstruct';

/** `env:NAME` or `file:PATH`; a path is relative to the descriptor. */
export const SECRET_REFERENCE = /^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:[^\0\r\n]+)$/;

/** The name of {@link secretReference}, by which the host finds secrets in a config. */
export const SECRET_REFERENCE_TYPE = 'secret reference (env:NAME or file:PATH)';
/** The name of {@link fileReference}, by which the host finds files in a config. */
export const FILE_REFERENCE_TYPE = 'path of a file';

/** The name of {@link documentReference}, by which the host finds documents in a config. */
export const DOCUMENT_REFERENCE_TYPE = 'path of a JSON or YAML document';

/** The host sets it to find the references of a config; shared by all copies of the contract. */
const LISTENER = Symbol.for('modgate.reference-listener');

/**
 * Struct of a secret: `env:NAME` or `file:PATH`, never a value. The host resolves it before `open` and
 * rejects the descriptor if that fails; `context.secret(reference)` returns it, without a final line
 * break. In a union with `string()` it must come first: the host finds a reference when this struct
 * accepts it.
 * @param value of the secret; its name completes `which must be …` in messages, which never show
 * the value. Default: any text that is not empty.
 */
export function secretReference(value?: Struct<string, null>): Struct<string, null> {
  return defineReference(
    SECRET_REFERENCE_TYPE,
    (text) => typeof text === 'string' && SECRET_REFERENCE.test(text),
    value as Struct<unknown, unknown> | undefined,
  );
}

/** Struct of a secret that is sent in a header (RFC 9110, 5.5, without obs-text), for {@link secretReference}. */
export const HEADER_SECRET: Struct<string, null> = define<string>(
  'one line of printable ASCII',
  (value) => typeof value === 'string' && /^[\x20-\x7e]+$/.test(value),
);

/** Struct of a password, for {@link secretReference}. */
export const PASSWORD: Struct<string, null> = define<string>(
  'one line without control characters',
  (value) => typeof value === 'string' && /^\P{Cc}+$/u.test(value),
);

/**
 * Struct of a file that the config names: a path relative to the descriptor, `file:PATH` or
 * `env:NAME` for the content of a variable. The host reads it before `open`, at most 4 MiB;
 * `context.file(reference)` returns it. A change of the file reloads the module.
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

/**
 * Struct of a JSON or YAML file that the config names: a path relative to the descriptor. The host validates its
 * content with `struct` before `open` and in `check`; `context.follow(reference, onChange)` returns it. A change
 * of the file does not reload the module.
 * @param struct of the content; its messages are not shown, as those of a config are not.
 */
export function documentReference(struct: Struct<unknown, unknown>): Struct<string, null> {
  return defineReference(
    DOCUMENT_REFERENCE_TYPE,
    (value) =>
      typeof value === 'string' && value !== '' && !/[\0\r\n]/.test(value) && !/^\w+:/.test(value),
    struct,
  );
}

type Listener = (type: string, text: unknown, path: unknown, struct?: unknown) => void;

function defineReference(
  type: string,
  isValid: (value: unknown) => boolean,
  struct?: Struct<unknown, unknown>,
): Struct<string, null> {
  return define<string>(type, (value, { path }) => {
    if (!isValid(value)) return false;
    (globalThis as { [LISTENER]?: Listener })[LISTENER]?.(type, value, path, struct);
    return true;
  });
}
