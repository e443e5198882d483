import type { Attack, Verdict } from '../attack-case.js';
import type { DnsQuestion, DnsRecord, DnsReply } from '../dns-server.js';
import { expectRejected, parseObject, sendOnce } from '../expectations.js';
import { craftRequest } from '../request-bytes.js';
import type { Scene } from '../scene.js';

/** The name in the certificate of the provider that a record points to. */
const OTHER_NAME = 'elsewhere.test';
const DOMAIN = 'selftest.test';

interface NamedModule {
  readonly id: string;
  readonly title: string;
  readonly type: 'dns' | 'srv';
  /** The records of the name, or of the target of its SRV record. */
  readonly records: readonly DnsRecord[];
  /** The target of the SRV record. */
  readonly target?: string;
  /** Whether the host uses TLS and accepts local addresses. */
  readonly isTls?: boolean;
}

export const NAMED_MODULES: Readonly<Record<string, NamedModule>> = {
  'name-loopback': {
    id: 'ssrf-name-loopback',
    title: 'a name with loopback and unspecified addresses',
    type: 'dns',
    records: [...a('127.0.0.1', '0.0.0.0'), ...aaaa('::1', '::')],
  },
  'name-metadata': {
    id: 'ssrf-name-metadata',
    title: 'a name with the addresses of metadata services',
    type: 'dns',
    records: [...a('169.254.169.254'), ...aaaa('fd00:ec2::254', 'fe80::a9fe:a9fe')],
  },
  'name-mapped': {
    id: 'ssrf-name-mapped',
    title: 'a name with IPv4 addresses of loopback in IPv6',
    type: 'dns',
    records: aaaa('::ffff:7f00:1', '::7f00:1', '64:ff9b::7f00:1'),
  },
  'name-service': {
    id: 'ssrf-name-service',
    title: 'an SRV record whose target has a loopback address',
    type: 'srv',
    target: `target.${DOMAIN}`,
    records: a('127.0.0.1'),
  },
  'name-target': {
    id: 'tls-name-target',
    title: 'an SRV record whose target has a valid certificate for its own name',
    type: 'srv',
    target: OTHER_NAME,
    records: a('127.0.0.1'),
    isTls: true,
  },
};

/** Returns `provider.config` of a named module. @param url the URL of its provider */
export function describeNamedModule(
  module: string,
  url: string,
  dnsAddress: string,
): object | null {
  const settings = NAMED_MODULES[module];
  if (settings === undefined) return null;
  const { type, isTls = false } = settings;
  const scheme = isTls ? 'https' : 'http';
  const place =
    type === 'dns' ? { dns: nameOf(module), port: portOf(url) } : { srv: nameOf(module) };
  return {
    endpoints: [{ ...place, scheme }],
    resolver: { servers: [dnsAddress], allow_local: isTls },
    ...(isTls && { tls: { ca: './authority.pem' } }),
  };
}

/** Replies for the named modules. @param urls the URLs of the providers, by module */
export function createNamedReply(urls: Readonly<Record<string, string>>) {
  return ({ name, type }: DnsQuestion): DnsReply => {
    for (const [module, { target, records }] of Object.entries(NAMED_MODULES)) {
      if (target === undefined ? name === nameOf(module) : name === target) {
        return { records };
      }
      if (target === undefined || name !== nameOf(module) || type !== 'SRV') continue;
      const port = portOf(urls[module] ?? '');
      return { records: [{ type, priority: 1, weight: 1, port, target }] };
    }
    return { rcode: 'NXDOMAIN' };
  };
}

export const NAME_CASES: readonly Attack[] = Object.entries(NAMED_MODULES).map(
  ([module, { id, title, isTls = false }]) => ({
    id,
    title,
    attack: async (scene) => {
      const bytes = craftRequest(scene, { target: `/modules/${module}/http/items` });
      const verdict = await expectRejected(scene, bytes, { statuses: [502] });
      return verdict ?? (isTls ? null : await expectNoEndpoint(scene, module));
    },
  }),
);

/** Checks the state, because a failed connection to such an address is also a 502. */
async function expectNoEndpoint(scene: Scene, module: string): Promise<Verdict> {
  const response = await sendOnce(scene, { target: '/modules' });
  const { modules } = parseObject(response.body) ?? {};
  const entry = (Array.isArray(modules) ? modules : []).find(({ name }) => name === module);
  if (entry === undefined) return 'the module is not listed';
  if (entry.endpoints.length > 0) return 'the address became an endpoint';
  return /local address/.test(entry.resolve_error) ? null : 'the name was not resolved';
}

function nameOf(module: string): string {
  const isService = NAMED_MODULES[module]?.type === 'srv';
  return `${isService ? '_http._tcp.' : ''}${module}.${DOMAIN}`;
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

function a(...addresses: string[]): DnsRecord[] {
  return addresses.map((address) => ({ type: 'A', address }));
}

function aaaa(...addresses: string[]): DnsRecord[] {
  return addresses.map((address) => ({ type: 'AAAA', address }));
}
