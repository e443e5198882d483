import { SurfaceError } from '../../../core/contract/index.js';

/** Requests that wait for an issuer at the same time: of one client, and of all. */
const [MAX_OF_CLIENT, MAX_IN_ALL] = [8, 256];
/** Each makes a request with the secret of the console; a person needs one. */
const MAX_EXCHANGES = 20;
const WINDOW_MS = 60_000;
/** Clients with exchanges in the window; the oldest is forgotten first. */
const MAX_CLIENTS = 10_000;

interface Exchanges {
  count: number;
  readonly endsAt: number;
}

/** What clients without a session may have the console ask of issuers, by their network. */
export class ClientShares {
  readonly #running = new Map<string, number>();
  readonly #exchanges = new Map<string, Exchanges>();
  #total = 0;

  /** @throws SurfaceError 429 where too many wait already, and what `work` throws. */
  async run<T>(network: string, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(network) ?? 0;
    if (running >= MAX_OF_CLIENT || this.#total >= MAX_IN_ALL) throw createLimited(1);
    this.#running.set(network, running + 1);
    this.#total += 1;
    try {
      return await work();
    } finally {
      this.#total -= 1;
      const left = (this.#running.get(network) ?? 1) - 1;
      if (left <= 0) this.#running.delete(network);
      else this.#running.set(network, left);
    }
  }

  /** Counts a code that is exchanged. @throws SurfaceError 429. */
  countExchange(network: string): void {
    const now = performance.now();
    let found = this.#exchanges.get(network);
    if (found === undefined || now >= found.endsAt) {
      found = { count: 0, endsAt: now + WINDOW_MS };
      this.#exchanges.delete(network);
      this.#exchanges.set(network, found);
    }
    if (found.count >= MAX_EXCHANGES) throw createLimited(Math.ceil((found.endsAt - now) / 1000));
    found.count += 1;
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
