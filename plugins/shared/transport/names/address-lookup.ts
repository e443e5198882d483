import type { Resolver } from 'node:dns/promises';
import { LastAnswer, ONLY_LOCAL } from './last-answer.js';
import { isLocalAddress } from './local-addresses.js';
import type { ResolverSettings } from './resolver-config.js';

/** More are unnecessary, and a hostile server may send thousands. */
export const MAX_ADDRESSES = 256;

/** The A and AAAA records of one name. */
export class AddressLookup {
  readonly #name: string;
  readonly #resolver: Resolver;
  readonly #allowLocal: boolean;
  readonly #ipv4: LastAnswer<string>;
  readonly #ipv6: LastAnswer<string>;

  constructor(name: string, resolver: Resolver, { staleMs, allowLocal }: ResolverSettings) {
    this.#name = name;
    this.#resolver = resolver;
    this.#allowLocal = allowLocal;
    this.#ipv4 = new LastAnswer(staleMs);
    this.#ipv6 = new LastAnswer(staleMs);
  }

  inherit(earlier: AddressLookup): void {
    this.#ipv4.inherit(earlier.#ipv4);
    this.#ipv6.inherit(earlier.#ipv6);
  }

  /** Sorted, because servers rotate the order of records. */
  get addresses(): readonly string[] {
    return [...this.#ipv4.records, ...this.#ipv6.records];
  }

  get arrivedAt(): Date | null {
    return earliest(this.#ipv4.arrivedAt, this.#ipv6.arrivedAt);
  }

  /** `DNS ENOTFOUND crm.internal`; `null` after a successful lookup. */
  get failure(): string | null {
    const queries = [this.#ipv4, this.#ipv6];
    const used = queries.filter(({ records }) => records.length > 0);
    // A name need not have both families.
    const failed = queries.filter(
      (query) => !query.isGone || used.length === 0 || used.includes(query),
    );
    const codes = failed.flatMap(({ failure }) => failure ?? []);
    const code = codes.find((code) => code !== 'ENODATA' && code !== 'ENOTFOUND') ?? codes[0];
    return code === undefined ? null : `DNS ${code} ${this.#name}`;
  }

  /** Never rejects. */
  async refresh(): Promise<void> {
    const select = (addresses: readonly string[]) => this.#select(addresses);
    await Promise.all([
      this.#ipv4.refresh(() => this.#resolver.resolve4(this.#name).then(select)),
      this.#ipv6.refresh(() => this.#resolver.resolve6(this.#name).then(select)),
    ]);
  }

  #select(addresses: readonly string[]): readonly string[] {
    const allowed = this.#allowLocal
      ? addresses
      : addresses.filter((address) => !isLocalAddress(address));
    if (allowed.length === 0 && addresses.length > 0) {
      throw Object.assign(new Error(ONLY_LOCAL), { code: ONLY_LOCAL });
    }
    return [...new Set(allowed)].sort().slice(0, MAX_ADDRESSES);
  }
}

/** Returns `null` if either one is `null`. */
function earliest(first: Date | null, second: Date | null): Date | null {
  if (first === null || second === null) return first ?? second;
  return first < second ? first : second;
}
