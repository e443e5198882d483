import { type FailurePhase, type Outcome, ProviderFailure } from '../../contract/index.js';
import { skipMarkOfPieces } from '../../lib/byte-order-mark.js';
import { isEncoded } from '../../lib/content-encoding.js';
import { findInvalidJson, type InvalidJson } from '../../lib/json/json-check.js';
import { isJsonMediaType, readMediaType } from '../../lib/media-type.js';
import { type CheckedOutcome, ProviderStatus } from '../../provider/outcome.js';

const NULL: readonly Uint8Array[] = [Buffer.from('null')];
export const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * The unchanged JSON bytes of a 2xx, without a byte-order mark; `null` for a 2xx without a body.
 * @throws ProviderFailure `protocol` for a response that cannot be forwarded.
 * @throws ProviderStatus for any other status.
 */
export function readResponseData(outcome: CheckedOutcome): readonly Uint8Array[] {
  const { status, pieces, length } = outcome;
  if (REDIRECTS.has(status)) throw createRedirectFailure(outcome);
  if (status < 200 || status > 299) throw new ProviderStatus(outcome);
  if (length === 0 && outcome.isDelimited) return NULL;
  const problem = findBodyProblem(outcome);
  if (problem !== null) throw createProtocolFailure(outcome, problem.state, problem.detail);
  return skipMarkOfPieces(pieces);
}

export function createRedirectFailure(outcome: CheckedOutcome): ProviderFailure {
  const detail = `status ${outcome.status}`;
  return createProtocolFailure(outcome, 'a redirect, which is never followed', detail);
}

export interface BodyProblem {
  /** Continues `the response of the provider is`. */
  readonly state: string;
  /** The detail, for operators. */
  readonly detail: string;
}

/** For a body that may have been cut. */
export const UNKNOWN_LENGTH: BodyProblem = {
  state: 'of unknown length',
  detail: 'body without a length',
};

/** The reason why a body is not complete JSON; `null` for JSON. */
export function findBodyProblem(outcome: CheckedOutcome): BodyProblem | null {
  const foreign = findHeaderProblem(outcome);
  if (foreign !== null) return foreign;
  if (!outcome.isDelimited) return UNKNOWN_LENGTH;
  const { pieces, length, invalidJson } = outcome;
  const invalid = invalidJson === undefined ? findInvalidJson(pieces, length) : invalidJson;
  return invalid && describeProblem(invalid);
}

/** The reason why a body is not JSON, by its headers. */
export function findHeaderProblem({ headers }: Pick<Outcome, 'headers'>): BodyProblem | null {
  const foreign = findForeignHeader(headers);
  if (foreign === null) return null;
  return { state: 'neither JSON nor in plain encoding', detail: foreign };
}

export function describeProblem(invalid: InvalidJson): BodyProblem {
  return { state: invalid.reason, detail: describeInvalid(invalid) };
}

const PARTIAL_CONTENT = 206;

/** The failure of a success whose body is not JSON, by its head; `null` for any other response. */
export function checkJsonHead({
  status,
  headers,
}: Pick<Outcome, 'status' | 'headers'>): ProviderFailure | null {
  if (status < 200 || status > 299 || status === PARTIAL_CONTENT) return null;
  const problem = findHeaderProblem({ headers });
  if (problem === null) return null;
  return createProtocolFailure({ status }, problem.state, problem.detail, 'answered');
}

/** @param detail the detail for operators */
export function createProtocolFailure(
  { status }: Pick<Outcome, 'status'>,
  state: string,
  detail: string,
  phase: FailurePhase = 'responding',
): ProviderFailure {
  const message = `the response of the provider is ${state}`;
  return new ProviderFailure('protocol', message, { status, detail, phase });
}

/**
 * Returns the same bytes as one buffer.
 * @throws like `readResponseData`.
 */
export function readResponseBytes(outcome: CheckedOutcome): Buffer {
  return Buffer.concat(readResponseData(outcome));
}

/** Whether the headers announce JSON without an encoding: the host never decompresses. */
export function isJsonResponse(headers: Outcome['headers']): boolean {
  return findForeignHeader(headers) === null;
}

/** The header that excludes JSON; `null` for JSON. */
export function findForeignHeader(headers: Outcome['headers']): string | null {
  const encoding = headers['content-encoding'];
  const contentType = headers['content-type'];
  if (isEncoded(encoding)) return `content-encoding ${encoding}`;
  if (contentType !== undefined && isJsonMediaType(contentType)) return null;
  return describeContentType(contentType);
}

/** The detail of a type that a route does not carry, for operators. */
export function describeContentType(contentType: string | undefined): string {
  if (contentType === undefined) return 'content-type missing';
  const isOne = readMediaType(contentType) !== null;
  return `content-type ${isOne ? '' : 'is not one media type: '}${contentType}`;
}

function describeInvalid({ reason, at }: InvalidJson): string {
  if (reason === 'not valid JSON') return `invalid JSON at byte ${at}`;
  return reason === 'not valid UTF-8' ? `invalid UTF-8 at byte ${at}` : reason;
}
