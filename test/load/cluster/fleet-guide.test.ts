import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { useFleet } from '../../support/fleet.js';
import { findFreePort } from '../../support/free-port.js';
import { describeModule } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { answerJson, type ScriptedProvider, startProvider } from '../../support/provider.js';
import type { HostProcess } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';

const PAGE = 'docs/operate/fleet.md';
const HOSTS = 3;
const CLIENTS = 8;
/** Four checks of the load balancer. */
const DRAIN_DELAY = ['--drain-delay-ms', '2000'];

describe(`${PAGE}, haproxy`, () => {
  const fleet = useFleet();
  let folder: string;
  let provider: ScriptedProvider;
  let haproxy: ChildProcess | undefined;

  before(async function () {
    if (spawnSync('haproxy', ['-v']).error !== undefined) {
      const message = 'needs haproxy: apt-get install haproxy';
      if (process.env['CI'] === 'true') throw new Error(message);
      console.log(`      skipped: ${message}`);
      this.skip();
    }
    provider = await startProvider(answerJson({ ok: true }));
    folder = createFolder();
  });

  after(async () => {
    if (haproxy !== undefined && haproxy.exitCode === null) {
      haproxy.kill();
      await once(haproxy, 'exit');
    }
    await provider?.stop();
  });

  it('restarts one host after the other without a failed request', async () => {
    const ports: number[] = [];
    for (let count = 0; count < HOSTS; count += 1) ports.push(await findFreePort());
    const start = (index: number) =>
      fleet.start({
        args: ['--port', String(ports[index]), ...DRAIN_DELAY],
        files: {
          'crm.json': describeModule('crm', provider.url, [
            { method: 'GET', path: '/items', capability: 'crm.read' },
          ]),
        },
      });
    const hosts: HostProcess[] = [];
    for (let index = 0; index < HOSTS; index += 1) hosts.push(await start(index));
    const balanced = await findFreePort();
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(file, readConfiguration(balanced, ports));
    haproxy = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' });
    await waitUntil('haproxy', () => ask(balanced).then(isGood, () => false));

    const load = startLoad(balanced);
    for (let index = 0; index < HOSTS; index += 1) {
      const before = load.answered;
      await waitUntil('load', () => load.answered > before + CLIENTS);
      await hosts[index]?.stop();
      const next = await start(index);
      const areReady = ({ hosts: all }: { hosts: readonly { state: string }[] }) =>
        all.length === HOSTS && all.every(({ state }) => state === 'ready');
      await fleet.until(next, 'all hosts ready', areReady);
      // Two checks of the load balancer.
      await pause(1000);
    }
    const { answered, failures } = await load.stop();
    expect(failures).to.deep.equal([]);
    expect(answered).to.be.above(CLIENTS * HOSTS);
  });
});

/** The block of the page, with other ports. */
function readConfiguration(balanced: number, ports: readonly number[]): string {
  const [, block = ''] = /```haproxy\n([\s\S]*?)```/.exec(readFileSync(PAGE, 'utf8')) ?? [];
  expect(block).to.include('bind 127.0.0.1:3000').and.to.include('127.0.0.1:3003');
  return block
    .replace('127.0.0.1:3000', `127.0.0.1:${balanced}`)
    .replace(/127\.0\.0\.1:300([123])\n/g, (_, digit: string) => {
      return `127.0.0.1:${ports[Number(digit) - 1]}\n`;
    });
}

const isGood = (status: number) => status === 200;

async function ask(port: number, agent?: Agent): Promise<number> {
  const sent = request({
    ...{ host: '127.0.0.1', port, path: '/modules/crm/http/items' },
    headers: { authorization: 'Bearer dev-service:load:crm.read' },
    ...(agent && { agent }),
  }).end();
  const [response] = await once(sent, 'response');
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}

/** Clients that call without a pause, each over a connection that it keeps. */
function startLoad(port: number) {
  const failures: unknown[] = [];
  const load = { answered: 0, isOver: false };
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const call = async () => {
    while (!load.isOver) {
      const status = await ask(port, agent).catch((error: Error) => error.message);
      load.answered += 1;
      if (status !== 200) failures.push(status);
    }
  };
  const clients = Array.from({ length: CLIENTS }, call);
  return {
    get answered() {
      return load.answered;
    },
    stop: async () => {
      load.isOver = true;
      await Promise.all(clients);
      agent.destroy();
      return { answered: load.answered, failures };
    },
  };
}
