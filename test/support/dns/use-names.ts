import { call, parseJson } from '../http/call.js';
import { buildManifest } from '../http/modules.js';
import { waitUntil } from '../http/wait-until.js';
import { type RunningHost, startHost } from '../start-host.js';
import { use } from '../use.js';
import {
  type DnsQuestion,
  type DnsRecord,
  type DnsReply,
  type DnsServer,
  startDnsServer,
} from './dns-server.js';
import { type Places, startPlaces } from './places.js';

interface Entry {
  readonly endpoint: string;
  readonly state: string;
  readonly calls: number;
  readonly in_flight: number;
}

/** A module as `GET /modules` shows it. */
export interface ShownModule {
  readonly state: string;
  readonly endpoints: readonly Entry[];
  readonly resolved_at?: string | null;
  readonly resolve_error?: string | null;
  readonly reason: string | null;
}

/** A host, a provider on every address of loopback, and a DNS server whose answers the test chooses. */
export class Names {
  readonly dns: DnsServer;
  readonly places: Places;
  readonly host: RunningHost;
  reply: (question: DnsQuestion) => DnsReply | Promise<DnsReply> = () => ({ rcode: 'NXDOMAIN' });

  private constructor(dns: DnsServer, places: Places, host: RunningHost) {
    this.dns = dns;
    this.places = places;
    this.host = host;
  }

  static async start(): Promise<Names> {
    let names: Names | undefined;
    const dns = await startDnsServer((question) => names?.reply(question) ?? null);
    names = new Names(dns, await startPlaces(), await startHost());
    return names;
  }

  /** Answers with these records, and with NXDOMAIN for any other name. */
  serve(zone: Readonly<Record<string, readonly DnsRecord[]>>): void {
    this.reply = ({ name }) => {
      const records = zone[name];
      return records === undefined ? { rcode: 'NXDOMAIN' } : { records };
    };
  }

  /** Writes the descriptor of `crm` and waits until it serves. */
  async open(endpoints: unknown, { resolver = {}, config = {}, more = {} } = {}): Promise<void> {
    const previous = (await this.read())?.config_digest;
    this.host.drop('crm.json', this.describe(endpoints, { resolver, config, more }));
    await waitUntil('the module serves', async () => {
      const module = await this.read();
      return module?.state === 'live' && module.config_digest !== previous;
    });
  }

  describe(endpoints: unknown, { resolver = {}, config = {}, more = {} } = {}): object {
    const resolverConfig = {
      servers: [this.dns.address],
      refresh_ms: 100,
      allow_local: true,
      ...resolver,
    };
    return {
      module: 'crm',
      provider: { kind: 'http', config: { endpoints, resolver: resolverConfig, ...config } },
      manifest: {
        inline: buildManifest('crm', [
          { method: 'GET', path: '/{rest...}', capability: 'crm.use' },
        ]),
      },
      ...more,
    };
  }

  async read(): Promise<(ShownModule & { readonly config_digest: string }) | undefined> {
    const response = await call(this.host, { target: '/modules' });
    const { modules } = parseJson(response) as { modules: ({ name: string } & ShownModule)[] };
    return modules.find(({ name }) => name === 'crm') as never;
  }

  async shown(): Promise<ShownModule> {
    return (await this.read()) ?? { state: 'absent', endpoints: [], reason: null };
  }

  /** The addresses of the endpoints: `127.0.0.2:4100`. */
  async addresses(): Promise<string[]> {
    const { endpoints } = await this.shown();
    return endpoints.map(({ endpoint }) => new URL(endpoint.split(' ')[0] ?? '').host);
  }

  async waitForAddresses(...expected: string[]): Promise<void> {
    const places = expected.map((address) => `${address}:${this.places.port}`);
    let last: string[] = [];
    await waitUntil(`the endpoints are ${places.join()}`, async () => {
      last = await this.addresses();
      return last.join() === places.join();
    }).catch((error: Error) => {
      throw new Error(`${error.message}; they are ${last.join()}`);
    });
  }

  /** @param expected places, sorted */
  async waitFor(expected: readonly string[]): Promise<void> {
    await waitUntil(`the endpoints are ${expected.join()}`, async () => {
      return (await this.addresses()).sort().join() === expected.join();
    });
  }

  get(path = '/a') {
    return call(this.host, { target: `/modules/crm/http${path}` });
  }

  /** The body of a successful call. */
  async at(path = '/a'): Promise<{ at: string; host: string; target: string }> {
    const { data } = parseJson(await this.get(path)) as { data?: never };
    if (data === undefined) throw new Error('the call failed');
    return data;
  }

  /** The latest call first. */
  calls() {
    return call(this.host, { target: '/calls?module=crm&limit=1' });
  }

  async metrics(): Promise<string> {
    return (await call(this.host, { target: '/metrics' })).body.toString();
  }

  async close(): Promise<void> {
    await this.host.stop();
    await this.places.close();
    await this.dns.close();
  }
}

/** One for all tests of a `describe`. */
export function useNames(): { readonly names: Names } {
  const names = use(Names.start);
  afterEach(() => names.places.release());
  return { names };
}

export function a(...addresses: string[]): DnsRecord[] {
  return addresses.map((address) => ({ type: 'A', address }));
}

export function srv(target: string, port: number, { weight = 1, priority = 1 } = {}): DnsRecord {
  return { type: 'SRV', target, port, weight, priority };
}
