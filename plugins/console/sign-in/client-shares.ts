import { SurfaceError } from '../../../core/contract/index.js';

/** The maximum number of concurrent requests to issuers: of one client, and of all. */
const [MAX_OF_CLIENT, MAX_IN_ALL] = [8, 256];
/** Each exchange makes a request with the secret of the console; a person needs one. */
const MAX_EXCHANGES = 20;
const WINDOW_MS = 60_000;
/** The maximum number of clients with exchanges in the window; the oldest is removed first. */
const MAX_CLIENTS = 10_000;

interface Exchanges {
  count: number;
  readonly endsAt: number;
}

/** Limits the requests to issuers on behalf of clients without a session, by network. */
export class ClientShares {
  readonly #running = new Map<string, number>();
  readonly #exchanges = new Map<string, Exchanges>();
  #total = 0;

  /** @throws SurfaceError 429 if too many requests wait, and what `work` throws. */
  async run<T>(network: string, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(network) ?? 0;
    if (running >= MAX_OF_CLIENT || this.#total >= MAX_IN_ALL) throw createLimited(1);
    this.#running.set(network, running + 1);
    this.#total += 1;
    try {
      return await work();
    } finally {
      this.#total -= 1;
      const remaining = (this.#running.get(network) ?? 1) - 1;
      if (remaining <= 0) this.#running.delete(network);
      else this.#running.set(network, remaining);
    }
  }

  /** Counts the exchange of a code. @throws SurfaceError 429. */
  countExchange(network: string): void {
    const now = performance.now();
    let exchanges = this.#exchanges.get(network);
    if (exchanges === undefined || now >= exchanges.endsAt) {
      exchanges = { count: 0, endsAt: now + WINDOW_MS };
      this.#exchanges.delete(network);
      this.#exchanges.set(network, exchanges);
    }
    if (exchanges.count >= MAX_EXCHANGES)
      throw createLimited(Math.ceil((exchanges.endsAt - now) / 1000));
    exchanges.count += 1;
    for (const oldest of this.#exchanges.keys()) {
      if (this.#exchanges.size <= MAX_CLIENTS) break;
      this.#exchanges.delete(oldest);
    }
  }
}

function createLimited(seconds: number): SurfaceError {
  return new SurfaceError('rate_limited', 'too many sign-ins at an issuer from this address', {
    nextActions: [`try again in ${seconds} s`],
    headers: { 'retry-after': String(seconds) },
  });
}
