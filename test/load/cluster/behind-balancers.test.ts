import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { startTcpProxy, type TcpProxy } from '../../store/tcp-proxy.js';
import { mountSmallDisk, type SmallDisk } from '../../support/chaos/small-disk.js';
import { type EchoProvider, startEchoProvider } from '../../support/echo-provider.js';
import { findFreePort } from '../../support/free-port.js';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { describeWideModule } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { startNginx } from '../../support/nginx.js';
import { type HostProcess, startHostProcess } from '../../support/start-host.js';
import {
  type PostgresPair,
  requirePostgresPrograms,
  startPostgresPair,
} from '../../support/store/postgres-pair.js';
import {
  type RedisServer,
  requireRedisServer,
  startRedisServer,
} from '../../support/store/redis-server.js';
import { createFolder } from '../../support/temporary-folder.js';

const HOSTS = 3;
/** The host whose disk is full for a while. */
const FULL_HOST = 2;
const CALLERS = 6;
const PAUSE_MS = 20;
const CALL_TIMEOUT_MS = 20_000;
/** Between two events, so that the load sees each alone. */
const BETWEEN_MS = 2000;
/** The longest time that a host holds records which the store does not have yet. */
const UNWRITTEN_MS = 1500;
const DRAIN_DELAY_MS = '2000';
/** For the state of one host. Bytes. */
const DISK_BYTES = 4_194_304;
const TOKEN = 'load';

interface Made {
  readonly id: string;
  readonly method: string;
  readonly startedAt: number;
  readonly endedAt: number;
  /** The status, or the code of an error. */
  readonly outcome: string;
}

/** A call through the load balancer, on a connection that is kept. */
function callOnce(port: number, method: string, id: string, agent: Agent): Promise<string> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'x-request-id': id };
  const more = method === 'POST' ? { 'content-type': 'application/json' } : {};
  return new Promise((resolve) => {
    const path = '/modules/crm/http/items';
    const options = { port, host: '127.0.0.1', path, method, agent };
    const sent = request({ ...options, headers: { ...headers, ...more } }, (response) => {
      response.resume();
      response.once('end', () => resolve(String(response.statusCode)));
      response.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
    });
    sent.setTimeout(CALL_TIMEOUT_MS, () => sent.destroy(new Error('no answer')));
    sent.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
    sent.end(method === 'POST' ? '{}' : undefined);
  });
}

function startCallers(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
  const made: Made[] = [];
  let isStopped = false;
  const callers = Array.from({ length: CALLERS }, async (_, caller) => {
    const method = caller % 2 === 0 ? 'GET' : 'POST';
    for (let count = 0; !isStopped; count += 1) {
      const id = `c${caller}-${count}`;
      const startedAt = Date.now();
      const outcome = await callOnce(port, method, id, agent);
      made.push({ id, method, startedAt, endedAt: Date.now(), outcome });
      await pause(PAUSE_MS);
    }
  });
  return {
    made,
    stop: async () => {
      isStopped = true;
      await Promise.all(callers);
      agent.destroy();
    },
  };
}

const BALANCERS: Readonly<
  Record<string, (folder: string, port: number, hosts: readonly number[]) => ChildProcess>
> = {
  haproxy: (folder, port, hosts) => {
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(
      file,
      adapt('deploy/haproxy.cfg', hosts).replace('bind :3000', `bind 127.0.0.1:${port}`),
    );
    return spawn('haproxy', ['-f', file], { stdio: 'ignore' });
  },
  nginx: (folder, port, hosts) =>
    startNginx(
      folder,
      adapt('deploy/nginx.conf', hosts).replace('listen 3000', `listen 127.0.0.1:${port}`),
    ),
};

/** The file of the package, with the hosts of the test. */
function adapt(file: string, hosts: readonly number[]): string {
  return readFileSync(file, 'utf8').replace(
    /10\.0\.0\.(\d):3000/g,
    (_match, digit: string) => `127.0.0.1:${hosts[Number(digit) - 1]}`,
  );
}

for (const [balancer, start] of Object.entries(BALANCERS)) {
  describe(`three hosts behind ${balancer}`, () => {
    const store = { host: '127.0.0.1', port: 0 };
    const rates = { host: '127.0.0.1', port: 0 };
    const folder = createFolder();
    const hosts: HostProcess[] = [];
    const ports: number[] = [];
    let pair: PostgresPair | undefined;
    let disk: SmallDisk | null = null;
    let redis: RedisServer[] = [];
    let proxies: TcpProxy[] = [];
    let provider: EchoProvider | undefined;
    let running: ChildProcess | undefined;

    const describeModule = (burst: number) =>
      describeWideModule('crm', provider?.url ?? '', {
        rate: { per_second: 100_000, burst, shared: true, on_loss: 'open' },
      });

    const startOne = async (index: number) => {
      const sha256 = createHash('sha256').update(TOKEN).digest('hex');
      const scopes = ['wide.use', 'modgate.calls.read'];
      const [storeProxy, rateProxy] = proxies;
      hosts[index] = await startHostProcess({
        dev: false,
        tokens: { tokens: [{ id: 'load', kind: 'service', scopes, sha256 }] },
        env: { MODGATE_DRAIN_DELAY_MS: DRAIN_DELAY_MS },
        files: { 'crm.json': describeModule(100_000) },
        args: [
          ...['--fleet', 'shop', '--port', String(ports[index]), '--keep-calls', '100000'],
          ...['--store', `postgres://postgres@127.0.0.1:${storeProxy?.port}/postgres`],
          ...['--redis', `redis://127.0.0.1:${rateProxy?.port}`],
          ...(index === FULL_HOST && disk !== null ? ['--state', disk.path] : []),
        ],
      });
    };

    before(async function () {
      requirePostgresPrograms(this);
      requireRedisServer(this);
      if (spawnSync(balancer, ['-v']).error !== undefined) {
        if (process.env['CI'] === 'true') throw new Error(`needs ${balancer}`);
        console.log(`      skipped: needs ${balancer}`);
        this.skip();
      }
      disk = mountSmallDisk(join(folder, 'disk'), DISK_BYTES);
      if (disk === null) console.log('      no full disk: this user may not mount a file system');
      provider = await startEchoProvider();
      pair = await startPostgresPair();
      // What the primary has confirmed, its standby has too.
      await pair.primary.run("alter system set synchronous_standby_names = '*'");
      await pair.primary.run('select pg_reload_conf()');
      redis = [await startRedisServer(), await startRedisServer()];
      store.port = pair.primary.port;
      rates.port = redis[0]?.port ?? 0;
      proxies = [await startTcpProxy(store), await startTcpProxy(rates)];
      for (let index = 0; index < HOSTS; index += 1) ports.push(await findFreePort());
      for (let index = 0; index < HOSTS; index += 1) await startOne(index);
    });

    after(async () => {
      if (running !== undefined) {
        const ended = once(running, 'exit');
        running.kill('SIGKILL');
        await ended;
      }
      for (const host of hosts) await host.kill();
      disk?.unmount();
      for (const proxy of proxies) await proxy.cut();
      for (const server of redis) await server.kill();
      await pair?.stop();
      await provider?.close();
    });

    it('lose no call but those in flight on a host that is killed, and no record', async () => {
      const port = await findFreePort();
      running = start(folder, port, ports);
      const agent = new Agent();
      await waitUntil(
        balancer,
        async () => (await callOnce(port, 'GET', 'first', agent)) === '200',
      );
      await pause(BETWEEN_MS);
      const load = startCallers(port);
      await pause(BETWEEN_MS);

      // A restart.
      await hosts[0]?.stop();
      await startOne(0);
      await pause(BETWEEN_MS);

      const killedAt = Date.now();
      await hosts[1]?.kill();
      await pause(BETWEEN_MS);
      await startOne(1);
      await pause(BETWEEN_MS);

      // A host reloads its module while its disk is full.
      disk?.fill();
      hosts[FULL_HOST]?.drop('crm.json', describeModule(99_999));
      await pause(2 * BETWEEN_MS);
      disk?.clear();
      await pause(BETWEEN_MS);

      // Redis leads to another server.
      rates.port = redis[1]?.port ?? 0;
      await redis[0]?.kill();
      await pause(BETWEEN_MS);

      // The standby of PostgreSQL becomes the primary.
      await pair?.primary.kill();
      await pause(BETWEEN_MS);
      await pair?.standby.run('select pg_promote()');
      store.port = pair?.standby.port ?? 0;
      await pause(2 * BETWEEN_MS);
      await load.stop();

      const failed = load.made.filter(({ outcome }) => outcome !== '200');
      const inFlight = failed.filter(
        ({ method, startedAt, endedAt }) =>
          method === 'POST' && startedAt <= killedAt + UNWRITTEN_MS && endedAt >= killedAt,
      );
      expect(failed.filter((one) => !inFlight.includes(one))).to.deep.equal([]);
      expect(inFlight.length).to.be.at.most(CALLERS / 2);

      const isRecorded = ({ outcome, endedAt }: Made) =>
        outcome === '200' && Math.abs(endedAt - killedAt) > UNWRITTEN_MS;
      let lost = load.made.filter(isRecorded);
      const written = async () => {
        const recorded = await readRecorded(port);
        lost = lost.filter(({ id }) => !recorded.has(id));
        return lost.length === 0;
      };
      await waitUntil('the records', written).catch(() => {});
      expect(lost).to.deep.equal([]);
      console.log(`      ${load.made.length} calls, ${inFlight.length} failed in flight`);
    });

    /** The ids of all records that are written. */
    const readRecorded = async (port: number) => {
      const ids = new Set<string>();
      let cursor: string | null = '';
      while (cursor !== null) {
        const more: string = cursor === '' ? '' : `&cursor=${cursor}`;
        const response = await call(
          { port },
          { target: `/calls?limit=1000${more}`, as: TOKEN, headers: [JSON_TYPE] },
        );
        const page = parseJson(response) as {
          calls: { request_id: string }[];
          next_cursor: string | null;
        };
        for (const { request_id: id } of page.calls) ids.add(id);
        cursor = page.next_cursor;
      }
      return ids;
    };
  });
}
