import { type Outcome, ProviderFailure } from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';

/** The provider answered with a status that cannot be forwarded: an answer, and yet a failure. */
export class ProviderStatus extends Error {
  override readonly name = 'ProviderStatus';
  readonly outcome: CheckedOutcome;

  constructor(outcome: CheckedOutcome) {
    super(`the provider answered ${outcome.status}`);
    this.outcome = outcome;
  }
}

/** The statuses that `provider_errors: passthrough` lets through (contract 1.7). */
const PASSED_ON: ReadonlySet<number> = new Set([400, 404, 409, 410, 412, 422, 429]);

/** Whether the caller gets to see the provider's own refusal: then it is no failure. */
export function isPassedOn(error: unknown, { providerErrors }: Descriptor): boolean {
  if (providerErrors !== 'passthrough' || !(error instanceof ProviderStatus)) return false;
  return PASSED_ON.has(error.outcome.status);
}

/** All names and values of an answer, in characters: four times what Node admits of a request. */
const MAX_HEADERS_LENGTH = 65_536;
/** RFC 9110 5.6.2, in lower case. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
/** RFC 9110 5.5: what would end a line, or a string in C, is no value. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;

const NONE: readonly Uint8Array[] = [];

/** An answer that has the shape of one. */
export interface CheckedOutcome extends Pick<Outcome, 'status' | 'headers'> {
  /** The body, in order. */
  readonly pieces: readonly Uint8Array[];
  /** Bytes of all pieces. */
  readonly length: number;
}

/**
 * An adapter may be anybody's: its answer is judged before it is believed, and copied, so that it cannot
 * change afterwards.
 * @throws ProviderFailure `protocol`.
 */
export function checkOutcome(outcome: Outcome, maxBytes: number): CheckedOutcome {
  if (typeof outcome !== 'object' || outcome === null) throw malformed('without an outcome');
  const { status, headers, body } = outcome;
  if (!Number.isInteger(status) || status < 100 || status > 599) {
    throw malformed('without a valid status');
  }
  if (typeof headers !== 'object' || headers === null) throw malformed('without headers');
  checkHeaders(headers);
  const pieces = copyPieces(body);
  let length = 0;
  for (const piece of pieces) length += piece.length;
  if (length > maxBytes) {
    throw new ProviderFailure('protocol', 'the answer is longer than limits.response_bytes');
  }
  return { status, headers, pieces, length };
}

function copyPieces(body: unknown): readonly Uint8Array[] {
  if (body === null) return NONE;
  const pieces = Array.isArray(body) ? body.slice() : [body];
  for (const piece of pieces) {
    if (!(piece instanceof Uint8Array)) throw malformed('with a body that is not bytes');
  }
  return pieces;
}

function checkHeaders(headers: Readonly<Record<string, string>>): void {
  let length = 0;
  for (const name of Object.keys(headers)) {
    const value: unknown = headers[name];
    if (!HEADER_NAME.test(name)) throw malformed('with a header name that is none in lower case');
    if (typeof value !== 'string') throw malformed('with a header that is not a string');
    if (CONTROL.test(value)) throw malformed('with a control character in a header');
    length += name.length + value.length;
  }
  if (length > MAX_HEADERS_LENGTH)
    throw malformed(`with more than ${MAX_HEADERS_LENGTH} of headers`);
}

function malformed(what: string): ProviderFailure {
  return new ProviderFailure('protocol', `the adapter answered ${what}`);
}
