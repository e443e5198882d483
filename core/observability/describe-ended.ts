import type { Actor } from '../contract/index.js';
import { nameActor } from '../lib/actor-name.js';

/** `service:crm-sync`; `null` where none was established. */
export function describeActor(actor: Actor | null): string | null {
  return actor === null ? null : nameActor(actor);
}

/** Microseconds are as fine as the clock is true. */
export function roundMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** The same of what may never have been: `null` stays so. */
export function roundMsOrNull(ms: number | null): number | null {
  return ms === null ? null : roundMs(ms);
}
