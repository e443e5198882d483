import { useEffect, useState } from 'preact/hooks';
import { isSignedIn } from '../api.js';

/**
 * Returns the time in milliseconds since 1970, updated at this interval. It stands still while the
 * page waits for a sign-in, so that nothing is read meanwhile.
 */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => {
      if (isSignedIn()) setNow(Date.now());
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
