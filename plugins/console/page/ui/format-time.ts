/** Includes the time zone, because readers of the same table may be in different zones. */
const ZONE = { timeZoneName: 'short' } as const;

/** Date, time and zone. */
export function formatTime(at: string | number | Date): string {
  return new Date(at).toLocaleString(undefined, ZONE);
}

/** Time and zone. */
export function formatClock(at: string | number): string {
  return new Date(at).toLocaleTimeString(undefined, ZONE);
}
