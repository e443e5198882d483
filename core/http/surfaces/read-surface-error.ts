import {
  array,
  assert,
  enums,
  type Infer,
  nullable,
  number,
  record,
  string,
  type,
  union,
} from 'superstruct';
import { isSurfaceError } from '../../contract/index.js';
import { SURFACE_ERROR_CODES } from '../../contract/surface-error.js';
import { HostError } from '../../errors.js';
import type { StepName } from '../../steps.js';
import { isOwnHeader } from './own-headers.js';

/** The step that rejected a request, by the code or by the part of the request in the error. */
const STEPS: Readonly<Record<string, StepName>> = {
  unauthorized: 'actor',
  rate_limited: 'rate',
  origin: 'origin',
  scope: 'capability',
};

const PROBLEM_HEADERS: ReadonlySet<string> = new Set([
  'cache-control',
  'content-length',
  'content-type',
  'x-content-type-options',
]);

const PARTS = type({
  code: enums(SURFACE_ERROR_CODES),
  message: string(),
  errors: array(type({ field: nullable(string()), reason: string() })),
  nextActions: array(string()),
  headers: record(string(), union([string(), number()])),
});

/**
 * Converts a `SurfaceError` to a Problem; returns `null` for any other error.
 * @throws Error for invalid members: a plugin in JavaScript may have passed any value.
 */
export function readSurfaceError(error: unknown): HostError | null {
  if (!isSurfaceError(error)) return null;
  const { code, message, errors, nextActions, headers, cause } = error;
  const parts: unknown = { code, message, errors, nextActions, headers };
  assert(parts, PARTS, 'the SurfaceError is malformed');
  return new HostError(parts.code, parts.message, {
    errors: parts.errors.map(({ field, reason }) => ({ field, reason })),
    nextActions: parts.nextActions,
    headers: readHeaders(parts.headers),
    ...findStep(parts),
    // Kept from an error of the host that the surface passes on.
    ...(cause instanceof HostError && {
      step: cause.step,
      reason: cause.reason,
      reasonDetail: cause.reasonDetail,
    }),
    cause,
  });
}

function findStep({ code, errors }: Infer<typeof PARTS>) {
  const step = STEPS[code] ?? STEPS[errors[0]?.field ?? ''] ?? null;
  return { step, reason: step === 'origin' ? 'site' : null };
}

/** @throws TypeError for an invalid header. */
function readHeaders(headers: Readonly<Record<string, string | number>>): Record<string, string> {
  const texts = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    `${value}`,
  ]);
  const valid = [...new Headers(texts)];
  return Object.fromEntries(
    valid.filter(([name]) => !isOwnHeader(name) && !PROBLEM_HEADERS.has(name)),
  );
}
