import type { FleetStatus } from '../../core/contract/fleet-status.js';
import { type Backend, createPostgresBackend, requirePostgres } from '../store/backend.js';
import type { Ended } from './cli/run-here.js';
import { runModgate } from './cli/run-modgate.js';
import { call, parseJson } from './http/call.js';
import { waitUntil } from './http/wait-until.js';
import { type HostOptions, type HostProcess, startHostProcess } from './start-host.js';
import { started } from './started.js';

const TOKEN = 'dev-service:ops:modgate.modules.read';
/** Longer than the 6 s after which a host is lost, on a slow machine. */
const DEADLINE_MS = 60_000;

interface TestFleet {
  readonly hosts: readonly HostProcess[];
  /** The URL of the store. */
  readonly url: string;
  /** The schema of the store. */
  readonly schema: string;
  /** Arguments for a host that reaches the store through a port of this machine. */
  through(port: number): readonly string[];
  /** Starts a host of the fleet, which is stopped after the test. */
  start(options?: HostOptions): Promise<HostProcess>;
  /** The fleet as one host sees it. */
  read(host: HostProcess, query?: string): Promise<FleetStatus>;
  /** Waits until the fleet, as a host sees it, is as expected. */
  until(
    host: HostProcess,
    subject: string,
    holds: (fleet: FleetStatus) => boolean,
  ): Promise<FleetStatus>;
  /** Runs a command against a host. */
  run(host: HostProcess, ...args: string[]): Promise<Ended>;
}

/** A fleet on a schema of PostgreSQL of its own, for each test. */
export function useFleet(): TestFleet {
  let backend: Backend | undefined;
  const hosts: HostProcess[] = [];

  beforeEach(async function () {
    await requirePostgres(this);
    backend = createPostgresBackend();
  });

  afterEach(async () => {
    for (const host of hosts.splice(0)) await host.stop();
    await backend?.dispose();
  });

  const read: TestFleet['read'] = async (host, query = '') =>
    parseJson(await call(host, { target: `/fleet${query}` })) as unknown as FleetStatus;
  return {
    hosts,
    get url() {
      return started(backend).url ?? '';
    },
    get schema() {
      return new URL(started(backend).url ?? '').searchParams.get('schema') ?? '';
    },
    through: (port) => {
      const url = new URL(started(backend).url ?? '');
      url.host = `127.0.0.1:${port}`;
      return ['--store', url.href];
    },
    read,
    start: async ({ args = [], ...options } = {}) => {
      const host = await startHostProcess({
        ...options,
        args: ['--fleet', 'shop', '--store', backend?.url ?? '', ...args],
      });
      hosts.push(host);
      return host;
    },
    until: async (host, subject, holds) => {
      let status = await read(host);
      const isReached = async () => {
        status = await read(host);
        return holds(status);
      };
      await waitUntil(subject, isReached, DEADLINE_MS);
      return status;
    },
    run: (host, ...args) => runModgate([...args, '--url', host.url], { MODGATE_TOKEN: TOKEN }),
  };
}
