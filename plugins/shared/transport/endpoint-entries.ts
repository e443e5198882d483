import { isIP, isIPv6 } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { ServicePlace } from './names/service-lookup.js';
import type { EndpointPlace } from './transport.js';
import type { EndpointEntry, FixedEndpoint, NamedEndpoint } from './transport-config.js';

/** An address of a name. */
export interface NamedPlace extends ServicePlace {
  readonly entry: NamedEndpoint;
}

/** Reads the entries of `endpoints` of one kind. */
export class EndpointEntries {
  /** The scheme without TLS; with an `s` at its end it is the one with TLS. */
  readonly scheme: string;
  /** Whether URLs may have a path, and may have no port. */
  readonly hasPaths: boolean;

  constructor(scheme: string, hasPaths: boolean) {
    this.scheme = scheme;
    this.hasPaths = hasPaths;
  }

  /** The name of a definition in JSON Schema, which must differ from those of other kinds. */
  nameDefinition(name: string): string {
    if (this.scheme === 'http') return name;
    return this.scheme + name.charAt(0).toUpperCase() + name.slice(1);
  }

  canParse(url: string): boolean {
    return URL.canParse(this.#toHttp(url));
  }

  isSecure(entry: EndpointEntry): boolean {
    const scheme = isNamed(entry) ? entry.scheme : urlOf(entry).split(':', 1)[0]?.toLowerCase();
    return scheme === `${this.scheme}s`;
  }

  /** Identifies an entry uniquely; for URLs, the id in status and metrics. */
  idOf(entry: EndpointEntry): string {
    if (isNamed(entry)) {
      const { scheme = this.scheme, path = '' } = entry;
      const port = 'dns' in entry ? entry.port : entry.srv.toLowerCase();
      return `${scheme} ${calledName(entry)} ${port} ${trimSlash(path)}`;
    }
    if (!this.hasPaths) return urlOf(entry);
    const { protocol, host, pathname } = this.#parse(entry);
    return `${this.#toOwn(protocol)}//${host}${trimSlash(pathname)}`;
  }

  /** As the config names it, without the addresses of a name; http or https. */
  originOf(entry: EndpointEntry): string {
    if (!isNamed(entry)) return this.#parse(entry).origin;
    const protocol = this.isSecure(entry) ? 'https:' : 'http:';
    return 'dns' in entry ? `${protocol}//${entry.dns}:${entry.port}` : `${protocol}//${entry.srv}`;
  }

  prefixOf(entry: EndpointEntry): string {
    return trimSlash(isNamed(entry) ? (entry.path ?? '') : this.#parse(entry).pathname);
  }

  /** @param readTls the options for places with TLS */
  toPlace(entry: FixedEndpoint | NamedPlace, readTls: () => ConnectionOptions): EndpointPlace {
    if (typeof entry === 'object' && 'entry' in entry) return this.#toNamedPlace(entry, readTls);
    const { protocol, hostname, port, origin, pathname } = this.#parse(entry);
    const host = hostname.replace(/^\[|\]$/g, '');
    const isSecure = protocol === 'https:';
    const name = isIP(host) === 0 ? { servername: host } : {};
    return {
      id: this.idOf(entry),
      weight: typeof entry === 'string' ? 1 : entry.weight,
      priority: 0,
      origin,
      prefix: trimSlash(pathname),
      host,
      port: Number(port || (isSecure ? 443 : 80)),
      tls: isSecure ? { ...name, ...readTls() } : null,
    };
  }

  /**
   * Connects to its address under the name of the config: a certificate for the target of a record
   * proves nothing, because the DNS server chooses the target.
   */
  #toNamedPlace(
    { entry, address: host, port, weight, priority }: NamedPlace,
    readTls: () => ConnectionOptions,
  ): EndpointPlace {
    const { scheme = this.scheme } = entry;
    const name = calledName(entry);
    const prefix = this.prefixOf(entry);
    const isSecure = this.isSecure(entry);
    const place = isIPv6(host) ? `[${host}]` : host;
    return {
      id: `${scheme}://${place}:${port}${prefix} (${'dns' in entry ? entry.dns : entry.srv})`,
      weight,
      priority,
      origin: new URL(`${isSecure ? 'https' : 'http'}://${name}:${port}`).origin,
      prefix,
      host,
      port,
      tls: isSecure ? { servername: name, ...readTls() } : null,
    };
  }

  /** Parsed as of HTTP: for other schemes, a parser leaves hosts as they are. */
  #parse(entry: FixedEndpoint): URL {
    return new URL(this.#toHttp(urlOf(entry)));
  }

  #toHttp(url: string): string {
    const rest = url.slice(url.indexOf(':'));
    return `${this.isSecure(url) ? 'https' : 'http'}${rest}`;
  }

  #toOwn(protocol: string): string {
    return protocol.replace('http', this.scheme);
  }
}

/** Whether its addresses are resolved while the host runs. */
export function isNamed(entry: EndpointEntry): entry is NamedEndpoint {
  return typeof entry === 'object' && !('url' in entry);
}

/** The name in `host`, in references, and in certificates. */
export function calledName(entry: NamedEndpoint): string {
  return ('dns' in entry ? entry.dns : entry.srv.split('.').slice(2).join('.')).toLowerCase();
}

function urlOf(entry: FixedEndpoint): string {
  return typeof entry === 'string' ? entry : entry.url;
}

function trimSlash(path: string): string {
  return path.replace(/\/$/, '');
}
