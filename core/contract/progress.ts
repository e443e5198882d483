/** How far a call is, in a unit of the provider. */
export interface Progress {
  /** Grows with each report. */
  readonly progress: number;
  /** The value of `progress` at the end; absent if it is unknown. */
  readonly total?: number;
  /** For people, in one line; may come from the other side. */
  readonly message?: string;
}
