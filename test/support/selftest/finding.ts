import { ATTACK_CORPUS } from '../../../core/selftest/attack-corpus.js';

/** Attacks that once succeeded against the host, as far as a caller or provider can run them. */
export interface Finding {
  readonly subject: string;
  /** The cases that attack it. */
  readonly cases: readonly string[];
  /** The weakened host that fails these cases and no other of the table. */
  readonly weakened: string;
  /** Its cases fail at deadlines of many seconds, so they run beside others. */
  readonly waits?: true;
}

export const listNames = (start: string) =>
  ATTACK_CORPUS.map(({ id }) => id).filter((id) => id.startsWith(start));
export const listClass = (name: string) =>
  ATTACK_CORPUS.filter((attack) => attack.class === name).map(({ id }) => id);
