import { LRUCache } from 'lru-cache';
import {
  ACCEPTED_MS,
  type Admission,
  type AttemptCounts,
  type AttemptLedger,
  type AttemptOutcome,
  type CredentialAttempt,
  NETWORK_CACHE_LIMITS,
} from '../auth/attempt-counts.js';
import { createUnavailable } from '../errors.js';
import { PendingAnswers } from './pending-answers.js';
import type { PrimaryChannel } from './primary-channel.js';
import type { WorkerHandle } from './worker-handle.js';

/** The primary keeps an attempt waiting only while others are verified. Milliseconds. */
const ADMISSION_TIMEOUT_MS = 10_000;
/** How often a worker reports to the primary that a credential is still accepted. Milliseconds. */
const RENEWAL_MS = ACCEPTED_MS / 10;

/**
 * The attempts of one worker; the primary counts those of all. A credential that this worker has
 * accepted costs no message.
 */
export class WorkerAttempts implements AttemptLedger {
  readonly #channel: PrimaryChannel;
  readonly #accepted = new LRUCache<string, number>(NETWORK_CACHE_LIMITS);
  readonly #admissions = new PendingAnswers<{
    readonly id: number;
    readonly waitMs: number | null;
  }>(ADMISSION_TIMEOUT_MS, () =>
    createUnavailable('the credentials cannot be verified now', { step: 'client' }),
  );

  constructor(channel: PrimaryChannel) {
    this.#channel = channel;
    channel.on('admission', ({ id, waitMs }) => {
      const isAwaited = this.#admissions.settle(id, { id, waitMs });
      // The request was canceled.
      if (!isAwaited && waitMs === null) this.#send(id, '', '', 'undecided');
    });
  }

  begin(network: string, credential: string): Admission | Promise<Admission> {
    const acceptedAt = this.#accepted.get(credential);
    if (acceptedAt !== undefined && performance.now() - acceptedAt < RENEWAL_MS) {
      const settle = (outcome: AttemptOutcome) => {
        if (outcome !== 'rejected') return;
        this.#accepted.delete(credential);
        this.#send(null, network, credential, outcome);
      };
      return { attempt: { settle } };
    }
    return this.#ask(network, credential);
  }

  async #ask(network: string, credential: string): Promise<Admission> {
    const { id, waitMs } = await this.#admissions.ask((id) =>
      this.#channel.send({ type: 'attempt', id, network, credential }),
    );
    if (waitMs !== null) return { attempt: null, waitMs };
    const settle = (outcome: AttemptOutcome) => {
      if (outcome === 'accepted') this.#accepted.set(credential, performance.now());
      this.#send(id, network, credential, outcome);
    };
    return { attempt: { settle } };
  }

  #send(id: number | null, network: string, credential: string, outcome: AttemptOutcome): void {
    this.#channel.send({ type: 'attempt-result', id, network, credential, outcome });
  }
}

/** The attempts of all workers, in the primary. */
export class PrimaryAttempts {
  readonly #counts: AttemptCounts;
  /** The attempts by worker, then by the id of the worker's message. */
  readonly #running = new Map<number, Map<number, CredentialAttempt>>();

  constructor(counts: AttemptCounts) {
    this.#counts = counts;
  }

  async begin(
    worker: WorkerHandle,
    { id, network, credential }: { id: number; network: string; credential: string },
  ): Promise<void> {
    const { attempt, ...refused } = await this.#counts.begin(network, credential);
    if (attempt === null) {
      worker.send({ type: 'admission', id, waitMs: (refused as { waitMs: number }).waitMs });
      return;
    }
    if (worker.stage === 'exited') {
      attempt.settle('undecided');
      return;
    }
    const running = this.#running.get(worker.id) ?? new Map<number, CredentialAttempt>();
    this.#running.set(worker.id, running.set(id, attempt));
    worker.send({ type: 'admission', id, waitMs: null });
  }

  settle(
    worker: WorkerHandle,
    settled: { id: number | null; network: string; credential: string; outcome: AttemptOutcome },
  ): void {
    const { id, network, credential, outcome } = settled;
    if (id === null) {
      this.#counts.note(network, credential, outcome);
      return;
    }
    const running = this.#running.get(worker.id);
    running?.get(id)?.settle(outcome);
    running?.delete(id);
  }

  /** Releases the attempts of an exited worker. */
  release({ id }: WorkerHandle): void {
    const running = this.#running.get(id);
    this.#running.delete(id);
    for (const attempt of running?.values() ?? []) attempt.settle('undecided');
  }
}
