import { SurfaceError, type SurfaceErrorCode } from '../../contract/index.js';
import { HostError } from '../../errors.js';

/** Translates errors of the host for a surface; other errors stay unchanged. */
export function translateHostError(error: unknown): unknown {
  if (!(error instanceof HostError)) return error;
  const code: SurfaceErrorCode = error.code === 'rate_limited' ? 'rate_limited' : 'unavailable';
  const { detail, errors, nextActions, headers } = error;
  return new SurfaceError(code, detail, { cause: error, errors, nextActions, headers });
}
