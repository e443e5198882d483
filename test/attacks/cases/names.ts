import { parseObject } from '../../../core/selftest/expectations.js';
import type { DnsQuestion, DnsRecord, DnsReply } from '../../support/dns/dns-server.js';
import { a } from '../../support/dns/use-names.js';
import type { Attack, Verdict } from '../attack.js';
import { craftRequest, expectRejected, sendOnce } from '../expectations.js';
import type { OwnModules, Scene } from '../scene.js';

/** The name in the certificate of the provider that a record points to. */
const OTHER_NAME = 'elsewhere.example';
const DOMAIN = 'selftest.test';
/** Whose SRV records have these targets. */
const TARGETS: Readonly<Record<string, string>> = {
  'name-service': `target.${DOMAIN}`,
  'name-target': OTHER_NAME,
};

const aaaa = (...addresses: string[]) =>
  addresses.map((address): DnsRecord => ({ type: 'AAAA', address }));

type Row = readonly [module: string, title: string, records: readonly DnsRecord[]];

/** Names with addresses that no module may call. */
const FORBIDDEN: readonly Row[] = [
  [
    'name-loopback',
    'a name with loopback and unspecified addresses',
    [...a('127.0.0.1', '0.0.0.0'), ...aaaa('::1', '::')],
  ],
  [
    'name-metadata',
    'a name with the addresses of metadata services',
    [
      ...a('169.254.169.254', '100.100.100.200'),
      ...aaaa('fd00:ec2::254', 'fd20:ce::254', 'fe80::a9fe:a9fe'),
    ],
  ],
  [
    'name-mapped',
    'a name with IPv4 addresses of loopback in IPv6',
    aaaa('::ffff:7f00:1', '::7f00:1', '64:ff9b::7f00:1'),
  ],
  [
    'name-translated',
    'a name with IPv4 addresses of loopback in NAT64, 6to4 and Teredo',
    aaaa(
      ...['64:ff9b:1:7f00:0:100::', '64:ff9b:1::7f00:1', '2002:7f00:1::'],
      '2001:0:808:808:0:fbff:80ff:fffe',
    ),
  ],
  ['name-service', 'an SRV record whose target has a loopback address', a('127.0.0.1')],
];

/** @param dns the address of the DNS server; `tlsUrl`: that of a provider for `OTHER_NAME` */
export function createNamedModules(dns: string, url: string, tlsUrl: string): OwnModules {
  const named = FORBIDDEN.map(([module]) => {
    const name = nameOf(module);
    const place = module in TARGETS ? { srv: name } : { dns: name, port: portOf(url) };
    const endpoints = [{ ...place, scheme: 'http' }];
    return [module, { url, config: { endpoints, resolver: { servers: [dns] } } }] as const;
  });
  const config = {
    endpoints: [{ srv: nameOf('name-target'), scheme: 'https' }],
    resolver: { servers: [dns], allow_local: true },
    tls: { ca: './authority.pem' },
  };
  return { ...Object.fromEntries(named), 'name-target': { url: tlsUrl, config } };
}

export function createNamedReply(url: string, tlsUrl: string) {
  const zone = new Map<string, readonly DnsRecord[]>([[OTHER_NAME, a('127.0.0.1')]]);
  for (const [module, , records] of FORBIDDEN) zone.set(TARGETS[module] ?? nameOf(module), records);
  for (const [module, target] of Object.entries(TARGETS)) {
    const port = portOf(target === OTHER_NAME ? tlsUrl : url);
    zone.set(nameOf(module), [{ type: 'SRV', priority: 1, weight: 1, port, target }]);
  }
  return ({ name }: DnsQuestion): DnsReply => {
    const records = zone.get(name);
    return records === undefined ? { rcode: 'NXDOMAIN' } : { records };
  };
}

export const NAME_CASES: readonly Attack[] = [
  ...FORBIDDEN.map(
    ([module, title]): Attack => ({
      id: `ssrf-${module}`,
      title,
      attack: async (scene) => {
        const bytes = craftRequest(scene, { target: `/modules/${module}/http/items` });
        return (
          (await expectRejected(scene, bytes, [502])) ?? (await expectNoEndpoint(scene, module))
        );
      },
    }),
  ),
  {
    id: 'tls-name-target',
    title: 'an SRV record whose target has a valid certificate for its own name',
    send: { target: '/modules/name-target/http/items' },
    rejected: 502,
  },
];

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
  return `${module in TARGETS ? '_http._tcp.' : ''}${module}.${DOMAIN}`;
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}
