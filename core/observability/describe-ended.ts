import type { Actor } from '../contract/index.js';

/** `service:crm-sync` */
export function describeActor(actor: Actor | null): string | null {
  return actor === null ? null : `${actor.kind}:${actor.id}`;
}

/** Microseconds are as fine as the clock is true. */
export function roundMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
