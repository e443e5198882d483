import type { Processes } from '../processes.js';
import type { ProbationFigures, ProbationShare, RejectedVersion, Rejections } from './probation.js';

/** Batches the counts of a busy module: a message per call would cost more than the call. */
const REPORT_DELAY_MS = 20;
/**
 * The newest versions are kept, because others may still report versions that this worker no longer
 * has.
 */
const MAX_VERSIONS = 1000;

interface SharedFigures {
  /** The input digest of a version on probation. */
  readonly digest: string;
  readonly figures: ProbationFigures;
}

/**
 * Exchanges call counts of versions on probation with the other processes of the host: each sees
 * only a part of the calls, but all must reach the same result.
 */
export class SharedProbation {
  readonly #rejections: Rejections;
  readonly #send: (figures: SharedFigures) => void;
  /** The figures by digest of the version, then by worker. They include versions that this worker has not loaded. */
  readonly #figures = new Map<string, Map<number, ProbationFigures>>();
  readonly #shares = new Map<string, ProbationShare>();

  constructor(processes: Pick<Processes, 'channel'>, rejections: Rejections) {
    this.#rejections = rejections;
    this.#send = processes.channel<SharedFigures>('probation', ({ digest, figures }, worker) => {
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

  /** @param digest the input digest of the version */
  join(digest: string): ProbationShare {
    let reported: ProbationFigures | null = null;
    let timer: NodeJS.Timeout | null = null;
    const send = () => {
      timer = null;
      if (reported !== null) this.#send({ digest, figures: reported });
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
    // Those of an earlier try may have arrived after it; others report all of theirs again with each call.
    figures.delete(digest);
    this.#shares.set(digest, share);
    return share;
  }

  /** Called after this process has rolled back, so that the others follow. */
  reject(rejected: RejectedVersion): void {
    this.#rejections.announce(rejected);
  }

  onRejected(listener: (rejected: RejectedVersion) => void): void {
    this.#rejections.onAnnounced(listener);
  }
}

function sum(figures: readonly ProbationFigures[]): ProbationFigures {
  return figures.reduce(
    (total, { calls, failed }) => ({ calls: total.calls + calls, failed: total.failed + failed }),
    { calls: 0, failed: 0 },
  );
}
