import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { createUnavailable } from '../errors.js';
import type { MessageSource, PrimaryLink, PrimaryPart, SharedService } from '../processes.js';
import {
  ACCEPTED_MS,
  type Admission,
  AttemptCounts,
  type AttemptLedger,
  type AttemptOutcome,
  type CredentialAttempt,
  NETWORK_CACHE_LIMITS,
} from './attempt-counts.js';
import { ATTEMPT_KEY_BYTES, AuthFailures } from './auth-failures.js';

/** How often a worker reports to the primary that a credential is still accepted. Milliseconds. */
const RENEWAL_MS = ACCEPTED_MS / 10;

/** A credential that no worker is known to have accepted. */
interface Question {
  /** Unique in its worker. */
  readonly id: number;
  readonly network: string;
  readonly credential: string;
}

interface Result extends Omit<Question, 'id'> {
  /** The id of the question; `null` for a credential that this worker has accepted before. */
  readonly id: number | null;
  readonly outcome: AttemptOutcome;
}

/** `waitMs` is `null` if the attempt may be made. */
interface Answer {
  readonly waitMs: number | null;
}

/** Counts for `--auth-failures`, over all processes; `null` without that limit. */
export const SHARED_ATTEMPTS: SharedService<AuthFailures | null> = {
  name: 'attempts',
  createLocal: ({ config }) =>
    config.authFailures === 0
      ? null
      : new AuthFailures(new AttemptCounts(config.authFailures), randomBytes(ATTEMPT_KEY_BYTES)),
  createClient: (link, key, { config }) =>
    config.authFailures === 0
      ? null
      : new AuthFailures(new WorkerAttempts(link), key as Uint8Array),
  createPrimary: ({ config }) => new PrimaryAttempts(new AttemptCounts(config.authFailures)),
};

/**
 * The attempts of one worker; the primary counts those of all. A credential that this worker has
 * accepted costs no message.
 */
class WorkerAttempts implements AttemptLedger {
  readonly #link: PrimaryLink;
  readonly #accepted = new LRUCache<string, number>(NETWORK_CACHE_LIMITS);
  #lastId = 0;

  constructor(link: PrimaryLink) {
    this.#link = link;
  }

  begin(network: string, credential: string): Admission | Promise<Admission> {
    const acceptedAt = this.#accepted.get(credential);
    if (acceptedAt !== undefined && performance.now() - acceptedAt < RENEWAL_MS) {
      const settle = (outcome: AttemptOutcome) => {
        if (outcome !== 'rejected') return;
        this.#accepted.delete(credential);
        this.#report({ id: null, network, credential, outcome });
      };
      return { attempt: { settle } };
    }
    return this.#ask(network, credential);
  }

  /** The primary keeps an attempt waiting only while others are verified. */
  async #ask(network: string, credential: string): Promise<Admission> {
    this.#lastId += 1;
    const question: Question = { id: this.#lastId, network, credential };
    const { waitMs } = await this.#link.ask<Answer>(
      question,
      () => createUnavailable('the credentials cannot be verified now', { step: 'client' }),
      (late) => {
        if (late.waitMs === null) this.#report({ ...question, outcome: 'undecided' });
      },
    );
    if (waitMs !== null) return { attempt: null, waitMs };
    const settle = (outcome: AttemptOutcome) => {
      if (outcome === 'accepted') this.#accepted.set(credential, performance.now());
      this.#report({ ...question, outcome });
    };
    return { attempt: { settle } };
  }

  #report(result: Result): void {
    this.#link.send(result);
  }
}

/** The attempts of all workers, in the primary. */
class PrimaryAttempts implements PrimaryPart {
  readonly #counts: AttemptCounts;
  /** The key of the hashes of credentials that all workers remember. */
  readonly #key = randomBytes(ATTEMPT_KEY_BYTES);
  /** The attempts by worker, then by the id of the worker's question. */
  readonly #running = new Map<number, Map<number, CredentialAttempt>>();

  constructor(counts: AttemptCounts) {
    this.#counts = counts;
  }

  start(): Uint8Array {
    return this.#key;
  }

  async answer({ id, network, credential }: Question, from: MessageSource): Promise<Answer> {
    const admission = await this.#counts.begin(network, credential);
    if (admission.attempt === null) return { waitMs: admission.waitMs };
    if (from.hasExited) {
      admission.attempt.settle('undecided');
    } else {
      const running = this.#running.get(from.id) ?? new Map<number, CredentialAttempt>();
      this.#running.set(from.id, running.set(id, admission.attempt));
    }
    return { waitMs: null };
  }

  receive({ id, network, credential, outcome }: Result, from: MessageSource): void {
    if (id === null) {
      this.#counts.note(network, credential, outcome);
      return;
    }
    const running = this.#running.get(from.id);
    running?.get(id)?.settle(outcome);
    running?.delete(id);
  }

  onExit(worker: number): void {
    const running = this.#running.get(worker);
    this.#running.delete(worker);
    for (const attempt of running?.values() ?? []) attempt.settle('undecided');
  }
}
