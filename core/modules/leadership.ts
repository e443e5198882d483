/** One process of a host is the leader. When it exits, another one takes over. */
export interface Leadership {
  readonly leads: boolean;
  /** @param listener called when `leads` has changed. @returns a function that removes it. */
  onChange(listener: () => void): () => void;
}

/** The leadership of a host with one process. */
export const SOLE_PROCESS: Leadership = { leads: true, onChange: () => () => {} };
