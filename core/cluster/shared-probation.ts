import type {
  ProbationFigures,
  ProbationShare,
  RejectedVersion,
  SharedProbation,
} from '../modules/probation.js';
import type { PrimaryChannel } from './primary-channel.js';

/** Batches the counts of a busy module: a message per call would cost more than the call. */
const REPORT_DELAY_MS = 20;
/**
 * The newest versions are kept, because others may still report versions that this worker no longer
 * has.
 */
const MAX_VERSIONS = 1000;

/** Exchanges call counts of versions on probation with the other workers. */
export class WorkerProbation implements SharedProbation {
  readonly #channel: PrimaryChannel;
  /** The figures by digest of the version, then by worker. They include versions that this worker has not loaded. */
  readonly #figures = new Map<string, Map<number, ProbationFigures>>();
  readonly #shares = new Map<string, ProbationShare>();

  constructor(channel: PrimaryChannel) {
    this.#channel = channel;
    channel.on('probation', ({ worker, digest, figures }) => {
      this.#note(worker, digest, figures);
      this.#shares.get(digest)?.onReport?.();
    });
  }

  #note(worker: number, digest: string, figures: ProbationFigures): void {
    const byWorker = this.#figures.get(digest) ?? new Map<number, ProbationFigures>();
    this.#figures.set(digest, byWorker);
    byWorker.set(worker, figures);
    const [oldest] = this.#figures.keys();
    if (this.#figures.size > MAX_VERSIONS && oldest !== undefined) this.#figures.delete(oldest);
  }

  join(digest: string): ProbationShare {
    let reported: ProbationFigures | null = null;
    let timer: NodeJS.Timeout | null = null;
    const send = () => {
      timer = null;
      if (reported !== null) this.#channel.send({ type: 'probation', digest, figures: reported });
    };
    const figures = this.#figures;
    const share: ProbationShare = {
      report: (counted) => {
        reported = counted;
        timer ??= setTimeout(send, REPORT_DELAY_MS);
      },
      get others() {
        return sum([...(figures.get(digest)?.values() ?? [])]);
      },
      onReport: null,
      leave: () => {
        if (timer !== null) clearTimeout(timer);
        this.#shares.delete(digest);
        figures.delete(digest);
      },
    };
    this.#shares.set(digest, share);
    return share;
  }

  reject(rejected: RejectedVersion): void {
    this.#channel.send({ type: 'rejected', rejected });
  }

  onRejected(listener: (rejected: RejectedVersion) => void): void {
    this.#channel.on('rejected', ({ rejected }) => listener(rejected));
  }
}

function sum(figures: readonly ProbationFigures[]): ProbationFigures {
  return figures.reduce(
    (total, { calls, failed }) => ({ calls: total.calls + calls, failed: total.failed + failed }),
    { calls: 0, failed: 0 },
  );
}
