const SURFACE_ERROR_BRAND = Symbol.for('modgate.surface-error');

/** The codes of Problems that a surface may answer with; each has its status. */
export const SURFACE_ERROR_CODES = [
  'validation_failed',
  'unauthorized',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'conflict',
  'rate_limited',
  'unavailable',
] as const;

/** One of {@link SURFACE_ERROR_CODES}. */
export type SurfaceErrorCode = (typeof SURFACE_ERROR_CODES)[number];

/** The members of the Problem besides its detail. */
export interface SurfaceErrorOptions extends ErrorOptions {
  /** The invalid parts of the request. Default: none. */
  readonly errors?: readonly { readonly field: string | null; readonly reason: string }[];
  /** The next actions of the client, one short sentence each. Default: none. */
  readonly nextActions?: readonly string[];
  /** Headers of the response, such as `retry-after`; lower-case names. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The error of a surface that rejects a request: the client receives it as a Problem. No part of it
 * may contain a secret.
 */
export class SurfaceError extends Error {
  /** The mark, shared by all copies of the contract. */
  readonly [SURFACE_ERROR_BRAND] = true;
  /** Determines the status. */
  readonly code: SurfaceErrorCode;
  /** The invalid parts of the request. */
  readonly errors: readonly { readonly field: string | null; readonly reason: string }[];
  /** The next actions of the client. */
  readonly nextActions: readonly string[];
  /** Headers of the response. */
  readonly headers: Readonly<Record<string, string>>;

  /** @param detail one short sentence for the client. */
  constructor(code: SurfaceErrorCode, detail: string, options: SurfaceErrorOptions = {}) {
    super(detail, options);
    this.name = 'SurfaceError';
    this.code = code;
    this.errors = options.errors ?? [];
    this.nextActions = options.nextActions ?? [];
    this.headers = options.headers ?? {};
  }
}

/** Checks the mark, not the class: a plugin may have its own copy of the contract. */
export function isSurfaceError(error: unknown): error is SurfaceError {
  return typeof error === 'object' && error !== null && SURFACE_ERROR_BRAND in error;
}
