import { once } from 'node:events';
import { Agent, createServer, type RequestListener, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { describeModule } from '../support/http/modules.js';
import { waitUntil } from '../support/http/wait-until.js';
import { scrape } from '../support/observability/exposition.js';
import { type HostProcess, startHostProcess } from '../support/start-host.js';

const SECONDS = Number(process.env['MODGATE_MIXED_SECONDS'] ?? 5);
const CONNECTIONS = 64;
const TIMEOUT_MS = 1000;
/** No call may take longer, however busy the machine is. */
const HUNG_MS = 20_000;
const MAX_BODY = 100_000;
const TOKEN = 'Bearer dev-service:mixed:mixed.use';

const KINDS = ['echo', 'echo', 'echo', 'retried', 'slow', 'aborted'] as const;
type Kind = (typeof KINDS)[number];

const ROUTES = KINDS.filter((kind, index) => KINDS.indexOf(kind) === index).map((kind) => ({
  method: 'PUT',
  path: `/${kind}`,
  capability: 'mixed.use',
  ...(kind === 'retried' && { operation: { idempotency: 'idempotent' } }),
}));

/** Responds with the body. `/slow` is too late; the first attempt at `/retried` is reset. */
function createEcho(): RequestListener {
  const attempted = new Set<string>();
  return async (incoming, response) => {
    const id = String(incoming.headers['modgate-call-id']);
    const body = await buffer(incoming).catch(() => null);
    if (incoming.url === '/retried' && !attempted.delete(id)) {
      attempted.add(id);
      incoming.socket.resetAndDestroy();
      return;
    }
    response.setHeader('content-type', 'application/json');
    if (incoming.url === '/slow') setTimeout(() => response.end(body), 2 * TIMEOUT_MS);
    else response.end(body);
  };
}

/** The result of one call. */
type Fate = number | 'aborted' | 'hung' | 'mixed' | 'lost';

for (const args of [[], ['--workers', '2']]) {
  describe(`calls of ${CONNECTIONS} connections ${args.join(' ')}`, () => {
    let provider: Server;
    let host: HostProcess;

    before(async () => {
      provider = createServer(createEcho());
      provider.listen(0, '127.0.0.1');
      await once(provider, 'listening');
      const { port } = provider.address() as AddressInfo;
      const breaker = { failures: 1000, ratio: 1 };
      const more = { limits: { timeout_ms: TIMEOUT_MS }, breaker, retry: { budget: 1 } };
      host = await startHostProcess({
        args: ['--log-success-sample', '0', '--shed-delay-ms', '5000', ...args],
        files: { 'mixed.json': describeModule('mixed', `http://127.0.0.1:${port}`, ROUTES, more) },
      });
    });

    after(async () => {
      expect(await host.stop()).to.deep.equal({ code: 0, signal: null });
      provider.closeAllConnections();
      provider.close();
    });

    it('get their own response, and all end', async function () {
      this.timeout(SECONDS * 1000 + 2 * HUNG_MS);
      const fates = new Map<string, number>();
      const end = Date.now() + SECONDS * 1000;
      const client = async (number: number) => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        for (let round = 0; Date.now() < end; round += 1) {
          const kind = KINDS[(number + round) % KINDS.length] ?? 'echo';
          const fate = `${kind} ${await callOnce(host, agent, kind, `${number}-${round}`)}`;
          fates.set(fate, (fates.get(fate) ?? 0) + 1);
        }
        agent.destroy();
      };
      await Promise.all(Array.from({ length: CONNECTIONS }, (_, number) => client(number)));
      // A call that is repeated may also be too late on a busy machine.
      const possible = ['echo 200', 'echo 502', 'retried 200', 'retried 502'];
      expect([...fates.keys()]).to.have.members(
        [...possible, 'slow 502', 'aborted aborted'].filter((fate) => fates.has(fate)),
      );
      for (const fate of ['echo 200', 'retried 200', 'slow 502', 'aborted aborted']) {
        expect(fates.get(fate), JSON.stringify([...fates])).to.be.above(0);
      }
      await waitUntil('the release of everything', async () => {
        const exposed = await scrape(host);
        return exposed.sum('modgate_held_bytes') + exposed.sum('modgate_in_flight') === 0;
      });
    });
  });
}

/** Sends a unique payload and compares the response with it. */
function callOnce(host: HostProcess, agent: Agent, kind: Kind, id: string): Promise<Fate> {
  const text = `${id} `.repeat(1 + Math.floor((Math.random() * MAX_BODY) / id.length));
  const body = JSON.stringify({ id, text });
  return new Promise((resolve) => {
    const sent = request({
      agent,
      port: host.port,
      method: 'PUT',
      path: `/modules/mixed/http/${kind}`,
      headers: { authorization: TOKEN, 'content-type': 'application/json' },
    });
    const settle = (fate: Fate) => {
      clearTimeout(hung);
      resolve(fate);
    };
    const hung = setTimeout(() => {
      settle('hung');
      sent.destroy();
    }, HUNG_MS);
    sent.on('error', () => settle(kind === 'aborted' ? 'aborted' : 'lost'));
    sent.on('response', async (response) => {
      const received = await buffer(response).catch(() => null);
      if (kind === 'aborted') settle('aborted');
      else if (received === null) settle('lost');
      else if (response.statusCode !== 200) settle(response.statusCode ?? 0);
      else settle(received.toString().endsWith(`"data":${body}}`) ? 200 : 'mixed');
    });
    sent.end(body);
    if (kind === 'aborted') setTimeout(() => sent.destroy(), Math.random() * 20);
  });
}
