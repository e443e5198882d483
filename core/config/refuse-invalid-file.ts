import { formatFinding, InvalidFile } from '../host/finding.js';
import { ConfigError } from './config-error.js';

/** What to throw on: a bad file becomes one line with its first fault, any other error stays. */
export function refuseInvalidFile(error: unknown): unknown {
  if (!(error instanceof InvalidFile)) return error;
  const [first, ...rest] = error.findings.filter(({ severity }) => severity === 'error');
  const line = first === undefined ? error.message : formatFinding(first);
  const more = rest.length === 0 ? '' : `; and ${rest.length} more`;
  return new ConfigError(line + more, { cause: error });
}
