import { record, string, union } from 'superstruct';
import {
  described,
  matching,
  named,
  type OpenContext,
  SECRET_REFERENCE,
  secretReference,
} from '../../core/contract/index.js';

/** POSIX, 8.1, without the variables that the host sets. */
const VARIABLE = /^(?!MODGATE_)[A-Za-z_][A-Za-z0-9_]*$/;

const variableName = matching('name of a variable that does not start with MODGATE_', VARIABLE);

/** Environment variables by name. `env:NAME` and `file:PATH` are references, other values are text. */
export const environmentConfig = named(
  'environment',
  described(record(variableName, union([secretReference(), string()])), {
    type: 'object',
    propertyNames: { pattern: VARIABLE.source },
    additionalProperties: { type: 'string' },
    description: 'Variables by name: env:NAME and file:PATH are references, anything else is text.',
  }),
);

export function readEnvironment(
  config: Readonly<Record<string, string>> | undefined,
  secret: OpenContext['secret'],
): Record<string, string> {
  const entries = Object.entries(config ?? {}).map(([name, value]) => {
    const text = SECRET_REFERENCE.test(value) ? secret(value).reveal() : value;
    if (text.includes('\0'))
      throw new Error(`env.${name} must resolve to text without a zero byte`);
    return [name, text] as const;
  });
  return Object.fromEntries(entries);
}
