import { escapeLine, type Progress } from '../contract/index.js';
import { readMember } from '../lib/read-member.js';
import type { Deadline } from './deadline.js';

/** A provider that reports more often gains nothing. */
const MAX_IN_A_SECOND = 10;
const MAX_MESSAGE_LENGTH = 200;

interface ProgressOptions {
  /** How long reports can extend the call, from its start. Milliseconds. */
  readonly maxMs: number;
  /** Receives the reports; `undefined` if the caller did not ask for them. */
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

/** The reports of one call: each starts its time anew, the first ten of each second. */
export class CallProgress {
  readonly #options: ProgressOptions;
  readonly #deadline: Deadline;
  #second = 0;
  #count = 0;

  constructor(deadline: Deadline, options: ProgressOptions) {
    this.#deadline = deadline;
    this.#options = options;
  }

  /** @param reported by the adapter, which is third-party code */
  report(reported: unknown): void {
    const progress = toProgress(reported);
    if (progress === null || this.#deadline.aborted || !this.#takeTurn()) return;
    const { maxMs, onProgress } = this.#options;
    this.#deadline.renew(this.#deadline.startedAt + maxMs);
    onProgress?.(progress);
  }

  #takeTurn(): boolean {
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#second) this.#count = 0;
    this.#second = second;
    this.#count += 1;
    return this.#count <= MAX_IN_A_SECOND;
  }
}

function toProgress(value: unknown): Progress | null {
  const [progress, total, message] = ['progress', 'total', 'message'].map((name) =>
    readMember(value, name),
  );
  if (typeof progress !== 'number' || !Number.isFinite(progress)) return null;
  const isMessage = typeof message === 'string' && message !== '';
  return {
    progress,
    ...(typeof total === 'number' && Number.isFinite(total) && { total }),
    ...(isMessage && {
      message: escapeLine(message.slice(0, MAX_MESSAGE_LENGTH)).slice(0, MAX_MESSAGE_LENGTH),
    }),
  };
}
