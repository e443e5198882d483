import { createHash } from 'node:crypto';
import { HostError } from '../errors.js';
import { nameNetwork } from '../lib/client-network.js';
import { andThen } from '../lib/promises.js';
import type { AttemptLedger, AttemptOutcome } from './attempt-counts.js';
import { type Authenticated, isRejected, type Rejected } from './checked-authenticator.js';

type Result = Authenticated | Rejected;

interface PresentedCredential {
  readonly address: string;
  /** The credential headers, as text. */
  readonly text: string;
  /** @throws HostError 401, 503. */
  readonly verify: () => Result | Promise<Result>;
  /** Whether a rejection counts. Default: all rejections count. */
  readonly isCounted?: (rejected: Rejected) => boolean;
}

/** The length of the key of the hashes. */
export const ATTEMPT_KEY_BYTES = 32;
const MS_PER_SECOND = 1000;

/** Limits how many credentials may be tried from one address (`--auth-failures`). */
export class AuthFailures {
  readonly #ledger: AttemptLedger;
  readonly #key: Uint8Array;

  /** @param key a random key, new at each start of the host and the same in all of its processes */
  constructor(ledger: AttemptLedger, key: Uint8Array) {
    this.#ledger = ledger;
    this.#key = key;
  }

  /**
   * Verifies a credential unless too many were rejected from its network. Returns a promise only if
   * it waits.
   * @throws HostError 429, and what `verify` throws.
   */
  guard({ address, text, verify, isCounted }: PresentedCredential): Result | Promise<Result> {
    const network = nameNetwork(address);
    const admitted = this.#ledger.begin(network, this.#hash(network, text));
    const run = (admission: Awaited<typeof admitted>): Result | Promise<Result> => {
      if (admission.attempt === null) throw createTooManyError(admission.waitMs);
      const { attempt } = admission;
      const settle = (result: Result): Result => {
        const isFailure = isRejected(result) && isCounted?.(result) !== false;
        attempt.settle(isFailure ? 'rejected' : isRejected(result) ? 'undecided' : 'accepted');
        return result;
      };
      const fail = (error: unknown): never => {
        attempt.settle(outcomeOf(error));
        throw error;
      };
      try {
        const result = verify();
        return result instanceof Promise ? result.then(settle, fail) : settle(result);
      } catch (error) {
        return fail(error);
      }
    };
    return andThen(admitted, run);
  }

  /** Uses a random key, so that a digest in memory does not reveal its credential. */
  #hash(network: string, text: string): string {
    return createHash('sha256').update(this.#key).update(`${network}\0${text}`).digest('base64');
  }
}

/** An error means that the authenticator did not respond, so the credential is undecided. */
function outcomeOf(error: unknown): AttemptOutcome {
  return error instanceof HostError && error.code === 'unauthorized' ? 'rejected' : 'undecided';
}

function createTooManyError(waitMs: number): HostError {
  const seconds = Math.max(1, Math.ceil(waitMs / MS_PER_SECOND));
  return new HostError('rate_limited', 'too many credentials from this address were rejected', {
    step: 'client',
    reason: 'auth_failures',
    errors: [{ field: 'address', reason: 'rejected credentials' }],
    nextActions: [`try again in ${seconds} s, with valid credentials`],
    headers: { 'retry-after': String(seconds) },
  });
}
