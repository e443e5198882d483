import { type ImportContext, SECRET_REFERENCE } from '../../core/contract/index.js';

/** The rest of a line is the value, which may have further equals signs. */
const VARIABLE = /^([^=]+)=([\s\S]*)$/;
const FILE_URL = 'file://';

/**
 * Parts of the names of variables whose values are secrets, which must not stand in a descriptor (`PGPASSWORD`,
 * `githubToken`). A harmless value under such a name can be a reference too.
 */
const SECRET_NAME =
  /pass(?!ive)|pwd|secret|token|key|auth(?!or(?!iz))|bearer|cookie|credential|jwt|session|(?:^|_)(?:pat|pin|sid|otp)s?(?:_|$)/i;
/** A URL with a user, whose name may be a token, or with a password, which may have a slash. */
const URL_CREDENTIALS = /:\/\/(?:[^\s/?#]*|[^\s/?#@:]*:(?!\d+[/?#])\S*)@/;

/**
 * Reads `--env NAME=VALUE`; a secret is `NAME=env:OTHER` or `NAME=file:PATH`, and stays a reference. No message has a
 * value.
 */
export function readVariables(
  given: readonly string[],
  context: Pick<ImportContext, 'referenceInDescriptor' | 'reject'>,
): Record<string, string> {
  const variables = given.map((text): [string, string] => {
    const [, name, value] = VARIABLE.exec(text) ?? [];
    if (name === undefined || value === undefined)
      return context.reject('--env must be NAME=VALUE');
    const isSecret = SECRET_NAME.test(name) || URL_CREDENTIALS.test(value);
    if (isSecret && !SECRET_REFERENCE.test(value)) {
      context.reject(`--env ${name} must be a reference: ${name}=env:${name}, or file:PATH`);
    }
    if (value.startsWith(FILE_URL)) {
      const variable = `${name}=env:${name}`;
      context.reject(`--env ${name} has a file: URL, which must be a reference: ${variable}`);
    }
    return [name, context.referenceInDescriptor(value)];
  });
  return Object.fromEntries(variables);
}
