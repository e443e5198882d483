import { BlockList, isIP } from 'node:net';
import type { ProxyAgent } from 'undici';
import { isLoopbackUrl } from './loopback.js';

const HTTPS_PORT = 443;
const MAX_PREFIX = { ipv4: 32, ipv6: 128 };

/** The value of `HTTPS_PROXY` is not the URL of a proxy. The value may contain a password. */
export class ProxyUnusable extends Error {
  /** The name of the class, for logs. */
  override readonly name = 'ProxyUnusable';
  /** What messages show of an error of a connection. */
  readonly code = 'HTTPS_PROXY_UNUSABLE';
}

/**
 * Whether the proxy of the environment carries requests for a URL. It carries TLS alone, so that it
 * sees no tokens, and nothing to loopback.
 */
export function isProxied(url: string): boolean {
  if (readVariable('HTTPS_PROXY') === '' || !URL.canParse(url)) return false;
  const target = new URL(url);
  return target.protocol === 'https:' && !isLoopbackUrl(target) && !isException(target);
}

/**
 * Connects through the proxy of the environment.
 * @param ca authorities of the target to trust instead of the system's, PEM
 * @throws ProxyUnusable
 */
export async function openProxy(ca?: Buffer): Promise<ProxyAgent> {
  const { origin, token } = parseProxy();
  const { ProxyAgent } = await import('undici');
  // Verification cannot be disabled, not even by `NODE_TLS_REJECT_UNAUTHORIZED`.
  const proxyTls = { rejectUnauthorized: true };
  const requestTls = { ...proxyTls, ...(ca !== undefined && { ca }) };
  return new ProxyAgent({ uri: origin, ...(token !== null && { token }), proxyTls, requestTls });
}

/** The error of the connection, which is the innermost cause of an error of fetch. */
export function findCause(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? findCause(error.cause) : error;
}

/** Whether `HTTPS_PROXY` is absent or the URL of an HTTP proxy. */
export function isProxyUsable(): boolean {
  if (readVariable('HTTPS_PROXY') === '') return true;
  try {
    parseProxy();
    return true;
  } catch {
    return false;
  }
}

/**
 * Parses `HTTPS_PROXY`.
 * @returns the token for `proxy-authorization`; `null` without a user.
 * @throws ProxyUnusable
 */
function parseProxy(): { readonly origin: string; readonly token: string | null } {
  const text = readVariable('HTTPS_PROXY');
  try {
    // As for curl, a value without a scheme is a host.
    const { protocol, origin, username, password } = new URL(
      /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`,
    );
    if (protocol !== 'http:' && protocol !== 'https:') throw new ProxyUnusable();
    const credentials = decodeURIComponent(`${username}:${password}`);
    const token = `Basic ${Buffer.from(credentials).toString('base64')}`;
    return { origin, token: credentials === ':' ? null : token };
  } catch {
    // The cause contains the value.
    throw new ProxyUnusable();
  }
}

/**
 * Whether `NO_PROXY` lists the host, with or without its port, a domain above it, or a range of
 * addresses that contains it.
 */
function isException({ hostname, port }: URL): boolean {
  const host = withoutBrackets(hostname);
  const names = [host, `${host}:${port === '' ? HTTPS_PORT : port}`];
  return withoutBrackets(readVariable('NO_PROXY').toLowerCase())
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const domain = entry.replace(/^\*?\.?/, '.');
      const isListed = domain === '.' || names.some((name) => `.${name}`.endsWith(domain));
      return isListed || isInRange(host, entry);
    });
}

/**
 * As for curl and Go, bits of the range behind its prefix do not count. As for Go, a range of IPv4 contains addresses
 * in the form of IPv6.
 */
function isInRange(address: string, range: string): boolean {
  const [, network = '', bits = ''] = /^([\d.]+|[\da-f:.]+)\/(\d{1,3})$/.exec(range) ?? [];
  const version = isIP(network);
  if (version === 0 || isIP(address) < version) return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  if (Number(bits) > MAX_PREFIX[family]) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(bits), family);
  return list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
}

function withoutBrackets(text: string): string {
  return text.replaceAll(/[[\]]/g, '');
}

/** As for curl, the name in lower case comes first, and an empty value counts as absent. */
function readVariable(name: string): string {
  return process.env[name.toLowerCase()] || process.env[name] || '';
}
