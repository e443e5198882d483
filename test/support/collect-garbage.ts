import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const INTERVAL_MS = 250;

/** Garbage collection ends a timeout to which only `AbortSignal.any` refers (nodejs/node#57736). */
export async function whileCollectingGarbage<T>(work: () => Promise<T>): Promise<T> {
  setFlagsFromString('--expose-gc');
  const collecting = setInterval(runInNewContext('gc') as () => void, INTERVAL_MS);
  try {
    return await work();
  } finally {
    clearInterval(collecting);
  }
}
