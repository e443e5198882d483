/** With the zone, because people who read the same table may live in others. */
const ZONE = { timeZoneName: 'short' } as const;

/** Date, time and zone. */
export function formatTime(at: string | number | Date): string {
  return new Date(at).toLocaleString(undefined, ZONE);
}

/** Time and zone. */
export function formatClock(at: string | number): string {
  return new Date(at).toLocaleTimeString(undefined, ZONE);
}
