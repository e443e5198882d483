/**
 * Whether this process does what one process of the host does for all: where several serve together, one of
 * them leads, and another one when that has gone.
 */
export interface Leadership {
  readonly leads: boolean;
  /** Called whenever `leads` changes; answers how to stop that. */
  onChange(listener: () => void): () => void;
}

/** A host that is one process. */
export const SOLE_PROCESS: Leadership = { leads: true, onChange: () => () => {} };
