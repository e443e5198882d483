import { BlockList, isIP, isIPv6, SocketAddress } from 'node:net';

/** A range of addresses in its usual form; `prefix` is the number of fixed bits. */
interface AddressRange {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

interface InvalidRange {
  readonly reason: string;
  /** The range that was probably intended. */
  readonly meant: string | null;
}

const BITS = { ipv4: 32, ipv6: 128 } as const;
const MAPPED = '::ffff:';
const MAPPED_PREFIX = 96;
const RANGE = /^([0-9A-Fa-f:.]+)(?:\/(0|[1-9]\d{0,2}))?$/;

/** The expected value of a range, for messages. */
export const RANGE_EXPECTED = 'an address or a range of addresses such as 10.0.0.0/8';

/**
 * The usual form of an address, lower case and with shortened zeros; an IPv4 address in IPv6
 * becomes that IPv4 address. Returns `null` for any other text, such as one with a zone or with
 * leading zeros.
 */
export function normalizeAddress(text: string): string | null {
  const family = isIP(text);
  if (family === 4) return text;
  if (family !== 6 || text.includes('%')) return null;
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  const inner = address.startsWith(MAPPED) ? address.slice(MAPPED.length) : '';
  return isIP(inner) === 4 ? inner : address;
}

/**
 * Parses an address or a range. Bits after the prefix must be 0: otherwise another range was
 * intended.
 */
export function parseRange(text: string): AddressRange | InvalidRange {
  const [, written = '', bits] = RANGE.exec(text) ?? [];
  const address = isIPv6(written) ? canonical(written) : written;
  const version = isIP(address);
  if (version === 0) return { reason: `must be ${RANGE_EXPECTED}`, meant: null };
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const prefix = bits === undefined ? BITS[family] : Number(bits);
  if (prefix > BITS[family]) {
    return { reason: `must have a prefix of at most ${BITS[family]}`, meant: null };
  }
  const inner = normalizeAddress(address);
  if (family === 'ipv6' && inner !== null && isIP(inner) === 4 && prefix >= MAPPED_PREFIX) {
    const meant = `${inner}/${prefix - MAPPED_PREFIX}`;
    return { reason: 'must be in the form of IPv4', meant };
  }
  const network = clearHostBits(address, prefix, family);
  if (network === address) return { address, prefix, family };
  return { reason: 'has bits behind its prefix', meant: `${network}/${prefix}` };
}

/** A list of ranges without invalid ones. IPv6 ranges never match IPv4 addresses. */
class AddressList {
  readonly #lists = { ipv4: new BlockList(), ipv6: new BlockList() };

  constructor(ranges: readonly string[]) {
    for (const text of ranges) {
      const range = parseRange(text);
      if ('reason' in range) continue;
      this.#lists[range.family].addSubnet(range.address, range.prefix, range.family);
    }
  }

  /** @param address the address in its usual form */
  has(address: string): boolean {
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    return isIP(address) !== 0 && this.#lists[family].check(address, family);
  }
}

/** Cached by list, because settings and descriptors are immutable. */
const lists = new WeakMap<readonly string[], AddressList>();

/** @param address the address in its usual form */
export function isInRanges(address: string, ranges: readonly string[]): boolean {
  let list = lists.get(ranges);
  if (list === undefined) {
    list = new AddressList(ranges);
    lists.set(ranges, list);
  }
  return list.has(address);
}

/** Whether one of the ranges contains all addresses of this one. */
export function isRangeIn(text: string, ranges: readonly string[]): boolean {
  const inner = parseRange(text);
  if ('reason' in inner) return false;
  return ranges.some((range) => {
    const outer = parseRange(range);
    if ('reason' in outer || outer.family !== inner.family) return false;
    return outer.prefix <= inner.prefix && isInRanges(inner.address, [range]);
  });
}

function canonical(address: string): string {
  return new SocketAddress({ address, family: 'ipv6' }).address;
}

function clearHostBits(address: string, prefix: number, family: AddressRange['family']): string {
  const hostBits = BigInt(BITS[family] - prefix);
  const value = (toNumber(address, family) >> hostBits) << hostBits;
  return family === 'ipv4' ? formatParts(value, 4, 8n, 10, '.') : canonical(formatIPv6(value));
}

function formatIPv6(value: bigint): string {
  return formatParts(value, 8, 16n, 16, ':');
}

function formatParts(value: bigint, count: number, bits: bigint, radix: number, mark: string) {
  const mask = (1n << bits) - 1n;
  const parts = Array.from({ length: count }, (_, index) =>
    ((value >> (bits * BigInt(count - 1 - index))) & mask).toString(radix),
  );
  return parts.join(mark);
}

function toNumber(address: string, family: AddressRange['family']): bigint {
  if (family === 'ipv4') return joinParts(address.split('.'), 10, 8n);
  return joinParts(splitGroups(address), 16, 16n);
}

function joinParts(parts: readonly string[], radix: number, bits: bigint): bigint {
  return parts.reduce((sum, part) => (sum << bits) + BigInt(Number.parseInt(part, radix)), 0n);
}

/** The eight groups of an IPv6 address without a zone. */
export function splitGroups(address: string): string[] {
  const plain = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...octets) => {
    const [a, b, c, d] = octets.slice(0, 4).map(Number) as [number, number, number, number];
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [head = '', tail] = plain.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail ? tail.split(':') : [];
  const missing = tail === undefined ? 0 : 8 - before.length - after.length;
  return [...before, ...Array.from({ length: missing }, () => '0'), ...after];
}
