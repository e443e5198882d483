import { useEffect, useState } from 'preact/hooks';

/** A text that changes every so often while the page is visible, so that resources are read again. */
export function useLiveVersion(everyMs: number): string {
  const [version, setVersion] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') setVersion((before) => before + 1);
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return String(version);
}
