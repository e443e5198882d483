import { type ImportContext, SECRET_REFERENCE } from '../../core/contract/index.js';

/** The rest of a line is the value, which may have further equals signs. */
const VARIABLE = /^([^=]+)=([\s\S]*)$/;
const FILE = 'file:';

/** Words in the name of a variable whose value is a secret, so that it must not stand in a descriptor. */
const SECRET_WORDS =
  /(?:^|_)(?:API_?KEY|AUTH|AUTHORIZATION|BEARER|COOKIE|CREDENTIALS?|JWT|KEY|PASS|PASSPHRASE|PASSWD|PASSWORD|PAT|PWD|SECRET|TOKEN)(?:_|$)/i;
/** A URL with a password. */
const URL_PASSWORD = /:\/\/[^\s/:@]*:[^\s/@]+@/;

/**
 * Reads `--env NAME=VALUE`; a secret is `NAME=env:OTHER` or `NAME=file:PATH`, and stays a reference. No message has a
 * value.
 */
export function readVariables(
  given: readonly string[],
  context: Pick<ImportContext, 'pathInDescriptor' | 'reject'>,
): Record<string, string> {
  const variables = given.map((text): [string, string] => {
    const [, name, value] = VARIABLE.exec(text) ?? [];
    if (name === undefined || value === undefined)
      return context.reject('--env must be NAME=VALUE');
    const isSecret = SECRET_WORDS.test(name) || URL_PASSWORD.test(value);
    if (isSecret && !SECRET_REFERENCE.test(value)) {
      context.reject(`--env ${name} must be a reference: ${name}=env:${name}, or file:PATH`);
    }
    return [name, relateReference(value, context)];
  });
  return Object.fromEntries(variables);
}

/** A file is that of the command line, which the descriptor names from its own folder. */
export function relateReference(
  value: string,
  { pathInDescriptor }: Pick<ImportContext, 'pathInDescriptor'>,
): string {
  return value.startsWith(FILE) ? `${FILE}${pathInDescriptor(value.slice(FILE.length))}` : value;
}
