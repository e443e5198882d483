import { type ImportContext, SECRET_REFERENCE } from '../../core/contract/index.js';

/** The rest of a line is the value, which may have further equals signs. */
const VARIABLE = /^([^=]+)=([\s\S]*)$/;
const FILE_URL = 'file://';

/**
 * Reads `--env NAME=VALUE`; a secret is `NAME=env:OTHER` or `NAME=file:PATH`, and stays a reference. No message has a
 * value.
 */
export function readVariables(
  given: readonly string[],
  context: Pick<ImportContext, 'mayBeSecret' | 'referenceInDescriptor' | 'reject'>,
): Record<string, string> {
  const variables = given.map((text): [string, string] => {
    const [, name, value] = VARIABLE.exec(text) ?? [];
    if (name === undefined || value === undefined)
      return context.reject('--env must be NAME=VALUE');
    if (!SECRET_REFERENCE.test(value) && context.mayBeSecret(name, value)) {
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
