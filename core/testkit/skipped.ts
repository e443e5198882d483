/** What `start` of a subject returns where it cannot run. Its clauses are skipped. */
export interface SkippedStart {
  /** The reason: `nats-server is not in PATH`. */
  readonly skip: string;
}

/** Thrown by the start of a harness: the clause cannot run here, for the reason of the message. */
export class SkippedClause extends Error {}
