import type { IncomingMessage } from 'node:http';
import { isIP, isIPv6 } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { HostConfig } from '../../config/settings.js';
import { isLoopbackAddress } from '../../contract/loopback.js';
import { isInRanges, normalizeAddress } from '../../lib/address-list.js';
import type { Client } from '../../operations/request.js';

type ClientSettings = Pick<HostConfig, 'trustedProxies' | 'publicUrl' | 'host'>;

/** `[2001:db8::1]:5`, `[2001:db8::1]` and `192.0.2.1:5`. */
const WITH_PORT = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+)(?=:))(?::\d{1,5})?$/;

/** The entries of `x-forwarded-for` that are read, from the right: more than a chain of proxies has. */
const MAX_FORWARDED = 32;

/** Finds the client of a connection, also behind trusted proxies. */
export class Clients {
  readonly #trusted: readonly string[];
  readonly #publicUrl: URL | null;
  readonly #isLoopback: boolean;
  /** The peers of open connections, most of which carry many requests. */
  readonly #peers = new WeakMap<object, Client>();

  constructor({ trustedProxies, publicUrl, host }: ClientSettings) {
    this.#trusted = trustedProxies ?? [];
    this.#publicUrl = publicUrl === null ? null : new URL(publicUrl);
    this.#isLoopback = isLoopbackAddress(host);
  }

  /** Returns `null` for a connection that closed before its first request was read. */
  find({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): Client | null {
    const peer = this.#peers.get(socket) ?? this.#readPeer(socket);
    if (peer === null || this.#trusted.length === 0 || !this.#isTrusted(peer.address)) return peer;
    const forwarded = headers['x-forwarded-for'];
    return {
      address: forwarded === undefined ? peer.address : this.#walk(peer.address, String(forwarded)),
      scheme: this.#findScheme(peer, headers['x-forwarded-proto']),
      host: peer.host,
    };
  }

  #readPeer(socket: IncomingMessage['socket']): Client | null {
    const address = findPeer(socket);
    if (address === null) return null;
    const isEncrypted = (socket as Partial<TLSSocket>).encrypted === true;
    const isHttps = this.#publicUrl === null ? isEncrypted : this.#publicUrl.protocol === 'https:';
    const scheme = isHttps ? 'https' : 'http';
    const peer: Client = { address, scheme, host: this.#findHost(socket) };
    this.#peers.set(socket, peer);
    return peer;
  }

  #isTrusted(address: string): boolean {
    return isInRanges(address, this.#trusted);
  }

  /**
   * Returns the right-most address that is not a trusted proxy: any client can forge the ones
   * before it. The left-most entry that is read counts where all of them are trusted.
   */
  #walk(peer: string, forwarded: string): string {
    let last = peer;
    for (const entry of listFromRight(forwarded)) {
      const address = parseEntry(entry.trim());
      if (address === null) return last;
      last = address;
      if (!this.#isTrusted(address)) return last;
    }
    return last;
  }

  #findScheme(peer: Client, forwarded: string | readonly string[] | undefined): Client['scheme'] {
    if (this.#publicUrl !== null) return peer.scheme;
    // The last one was added by the connected proxy.
    const [last = ''] = listFromRight(String(forwarded ?? ''));
    const scheme = last.trim().toLowerCase();
    return scheme === 'http' || scheme === 'https' ? scheme : peer.scheme;
  }

  /** Ignores the `host` header, which the client chooses. */
  #findHost({ localAddress, localPort }: IncomingMessage['socket']): string | null {
    if (this.#publicUrl !== null) return this.#publicUrl.host;
    if (!this.#isLoopback || localAddress === undefined) return null;
    return `${isIPv6(localAddress) ? `[${localAddress}]` : localAddress}:${localPort}`;
  }
}

/** The remote address of a connection, without the zone of a link-local address. */
export function findPeer({ remoteAddress }: { readonly remoteAddress?: string | undefined }) {
  return remoteAddress === undefined
    ? null
    : normalizeAddress(remoteAddress.split('%', 1)[0] ?? '');
}

/** The last entries of a list, the last one first. */
function* listFromRight(list: string): Generator<string> {
  let end = list.length;
  for (let count = 0; count < MAX_FORWARDED && end >= 0; count += 1) {
    const comma = end === 0 ? -1 : list.lastIndexOf(',', end - 1);
    yield list.slice(comma + 1, end);
    end = comma;
  }
}

/** Removes the port. Returns `null` for anything but an address, such as a name or `unknown`. */
function parseEntry(entry: string): string | null {
  const [, bracketed, plain] = WITH_PORT.exec(entry) ?? [];
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? normalizeAddress(bracketed) : null;
  return normalizeAddress(plain ?? entry);
}
