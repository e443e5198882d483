import type { Processes } from '../processes.js';
import type { ProbationFigures, ProbationShare, RejectedVersion, Rejections } from './probation.js';

/** Batches the counts of a busy module: a message per call would cost more than the call. */
const REPORT_DELAY_MS = 20;

interface SharedFigures {
  /** The input digest of a version on probation. */
  readonly digest: string;
  readonly figures: ProbationFigures;
}

interface JoinedShare {
  readonly share: ProbationShare;
  /** Those of one try: figures of an earlier one may arrive after its end. */
  readonly byWorker: Map<number, ProbationFigures>;
}

/**
 * Exchanges call counts of versions on probation with the other processes of the host: each sees
 * only a part of the calls, but all must reach the same result.
 */
export class SharedProbation {
  readonly #rejections: Rejections;
  readonly #send: (figures: SharedFigures) => void;
  /** By digest of the version. */
  readonly #shares = new Map<string, JoinedShare>();

  constructor(processes: Pick<Processes, 'channel'>, rejections: Rejections) {
    this.#rejections = rejections;
    this.#send = processes.channel<SharedFigures>('probation', ({ digest, figures }, worker) => {
      // A worker that reported before this one joined gets the later reports, and decides itself.
      const joined = this.#shares.get(digest);
      joined?.byWorker.set(worker, figures);
      joined?.share.onReport?.();
    });
  }

  /** @param digest the input digest of the version */
  join(digest: string): ProbationShare {
    let reported: ProbationFigures | null = null;
    let timer: NodeJS.Timeout | null = null;
    const send = () => {
      timer = null;
      if (reported !== null) this.#send({ digest, figures: reported });
    };
    const byWorker = new Map<number, ProbationFigures>();
    const share: ProbationShare = {
      report: (counted) => {
        reported = counted;
        timer ??= setTimeout(send, REPORT_DELAY_MS);
      },
      get others() {
        return sum([...byWorker.values()]);
      },
      onReport: null,
      leave: () => {
        if (timer !== null) clearTimeout(timer);
        this.#shares.delete(digest);
      },
    };
    this.#shares.set(digest, { share, byWorker });
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
