import type { HostError } from '../../errors.js';

/** The code of the parser, such as `HPE_INVALID_URL`, for operators; `null` for another error. */
export function findParserCode({ cause }: HostError): string | null {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return code.startsWith('HPE_') ? code : null;
}
