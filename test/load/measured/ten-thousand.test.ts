import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { expect } from 'chai';
import { Pool } from 'undici';
import { type EchoProvider, startEchoProvider } from '../../support/echo-provider.js';
import { describeModule, toRoutes } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { type HostProcess, startHostProcess } from '../../support/start-host.js';

const REQUESTS = 10_000;
const CONNECTIONS = 64;
/** Normal heap growth between two rounds. */
const MEMORY_SLACK_KIB = 24 * 1024;
const MAX_ROUNDS = 8;

describe('10,000 requests at 64 connections', () => {
  let provider: EchoProvider;
  let host: HostProcess;
  let sent = 0;

  before(async () => {
    provider = await startEchoProvider();
    host = await startHostProcess({
      files: {
        'crm.json': describeModule(
          'crm',
          provider.url,
          toRoutes(['GET /items', 'POST /items'], 'use'),
        ),
      },
      args: ['--log-success-sample', '0'],
    });
  });

  after(async () => {
    await host?.stop();
    await provider?.close();
  });

  it('succeed without exception, and leak no socket and no memory', async () => {
    // Two warm-up rounds, in which the heap grows to its working size.
    await fire(REQUESTS);
    await fire(REQUESTS);
    let rounds = 2;
    let grownKib = Number.POSITIVE_INFINITY;
    // A leak makes the heap grow in every round. Otherwise it grows only in some.
    while (grownKib >= MEMORY_SLACK_KIB && rounds < MAX_ROUNDS) {
      const before = readMemoryKib(host.pid);
      expect(await fire(REQUESTS)).to.deep.equal([]);
      grownKib = readMemoryKib(host.pid) - before;
      rounds += 1;
    }
    expect(grownKib).to.be.lessThan(MEMORY_SLACK_KIB);
    // The provider pool keeps idle connections for 4 s. Those of clients close immediately.
    await waitUntil('no socket but the listener', () => countSockets(host.pid) <= 1, 30_000);
    const response = await fetch(`${host.url}/modules`, {
      headers: { authorization: 'Bearer dev-system:ops' },
    });
    const { modules } = (await response.json()) as { modules: { counts: object }[] };
    expect(modules[0]?.counts).to.deep.include({
      calls: sent,
      failed: 0,
      in_flight: 0,
    });
  });

  /** The errors, if any. */
  async function fire(count: number): Promise<string[]> {
    const pool = new Pool(host.url, { connections: CONNECTIONS });
    const failures: string[] = [];
    sent += count;
    let left = count;
    const work = async () => {
      while (left > 0) {
        const number = left--;
        const isPost = number % 4 === 0;
        const { statusCode, body } = await pool.request({
          path: '/modules/crm/http/items',
          method: isPost ? 'POST' : 'GET',
          headers: {
            authorization: 'Bearer dev-service:load:use',
            ...(isPost && { 'content-type': 'application/json' }),
          },
          body: isPost ? `{"number":${number}}` : null,
        });
        const text = await body.text();
        if (statusCode !== 200) failures.push(`${statusCode} ${text}`);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, work));
    await pool.close();
    provider.reset();
    return failures;
  }
});

function readMemoryKib(pid: number): number {
  const match = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(match?.[1]);
}

/** TCP sockets of the process, as listed by the kernel. */
function countSockets(pid: number): number {
  const inodes = new Set(
    ['tcp', 'tcp6'].flatMap((table) =>
      readFileSync(`/proc/net/${table}`, 'utf8')
        .split('\n')
        .flatMap((line) => line.trim().split(/\s+/)[9] ?? []),
    ),
  );
  return readdirSync(`/proc/${pid}/fd`).filter((descriptor) => {
    const inode = readLink(`/proc/${pid}/fd/${descriptor}`)?.match(/^socket:\[(\d+)\]$/)?.[1];
    return inode !== undefined && inodes.has(inode);
  }).length;
}

function readLink(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
