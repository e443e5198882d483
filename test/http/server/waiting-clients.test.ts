import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import {
  openRaw,
  type RawSocket,
  ROUTES,
  writeHandshake,
} from '../../support/http/use-websockets.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { startProvider, startRawProvider } from '../../support/provider.js';
import { startHost } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';
import { use } from '../../support/use.js';

const LIMITS = { timeout_ms: 60_000, queue_ms: 60_000 };
const LEAVES: readonly [string, (client: RawSocket) => void][] = [
  ['closes its sending side', ({ socket }) => socket.end()],
  ['resets its connection', ({ socket }) => socket.resetAndDestroy()],
];

describe('a client that leaves while it waits', () => {
  const folder = createFolder();
  /** The heads that the provider has received, and never answers. */
  const heads: string[] = [];
  const asked: ServerResponse[] = [];
  let ids = 0;

  const provider = use(() =>
    startRawProvider((socket) => {
      socket.on('data', (chunk) => heads.push(String(chunk)));
    }),
  );
  const issuer = use(() => startProvider((_request, response) => void asked.push(response)));
  const host = use(() => {
    const issuers = join(folder, 'issuers.json');
    const introspection = {
      ...{ name: 'slow', url: issuer.url, client_id: 'modgate', client_secret: 'env:HOME' },
      actor: { kind: 'service', allowed_scopes: ['chat.use'] },
    };
    writeFileSync(issuers, JSON.stringify({ introspection: [introspection] }));
    const { url } = provider;
    return startHost({
      args: ['--issuers', issuers],
      files: {
        'chat.json': describeModule('chat', url, ROUTES, { limits: LIMITS }),
        'one.json': describeModule('one', url, ROUTES, { limits: { ...LIMITS, concurrency: 1 } }),
      },
    });
  });

  const open = async (module: string, headers: Record<string, string | null> = {}) => {
    ids += 1;
    const id = `waits-${ids}`;
    const client = await openRaw(host.port);
    client.write(
      writeHandshake(`/modules/${module}/http/socket`, { 'x-request-id': id, ...headers }),
    );
    return { ...client, id };
  };
  const findLine = (id: string) =>
    host.logs().find((line) => line['msg'] === 'request' && line['request_id'] === id);
  const get = async (path: string) => {
    const headers = { authorization: `Bearer ${ROOT}` };
    return (await fetch(`${host.url}${path}`, { headers })).text();
  };
  const expectGone = async (id: string) => {
    await waitUntil('the request is logged', () => findLine(id) !== undefined);
    expect(findLine(id)).to.include({ status: 499, failure: 'cancelled' });
  };

  for (const [title, leave] of LEAVES) {
    for (const frames of ['', 'x'.repeat(100), 'x'.repeat(12_000)]) {
      it(`frees the call of its handshake if it ${title}, ${frames.length} bytes later`, async () => {
        for (let index = 0; index < 6; index += 1) {
          const before = heads.length;
          const client = await open('chat');
          client.write(frames);
          await waitUntil('the provider has it', () => heads.length > before);
          leave(client);
          await expectGone(client.id);
          client.socket.destroy();
        }
        await waitUntil('the provider is free', () => provider.sockets.size === 0);
        const { modules } = JSON.parse(await get('/modules')) as {
          modules: { name: string; endpoints: object[] }[];
        };
        expect(modules.find(({ name }) => name === 'chat')?.endpoints[0]).to.deep.include({
          ...{ state: 'up', in_flight: 0, routes: [] },
        });
        expect(await get('/metrics')).to.match(/^modgate_streams_open\{.*\} 0$/m);
      });
    }

    it(`is never sent to the provider if it ${title} in a full queue`, async () => {
      const before = heads.length;
      const first = await open('one');
      await waitUntil('the provider has it', () => heads.length > before);
      const count = heads.length;
      const waiting = [await open('one'), await open('one'), await open('one')];
      await waitUntil('they wait', async () =>
        /^modgate_queued\{module="one"\} 3$/m.test(await get('/metrics')),
      );
      for (const client of waiting) leave(client);
      for (const { id } of waiting) await expectGone(id);
      leave(first);
      await expectGone(first.id);
      expect(heads).to.have.length(count);
      for (const client of [first, ...waiting]) client.socket.destroy();
    });

    for (const kind of ['a request', 'a handshake'])
      it(`ends if it ${title} during a slow authentication of ${kind}`, async () => {
        const before = asked.length;
        const plain = kind === 'a request' ? { upgrade: null, connection: null } : {};
        const authorization = `Bearer opaque-${title}-${kind}`.replaceAll(' ', '-');
        const client = await open('chat', {
          authorization: authorization.replace('Bearer-', 'Bearer '),
          ...plain,
        });
        await waitUntil('the issuer is asked', () => asked.length > before);
        leave(client);
        await expectGone(client.id);
        expect(findLine(client.id)?.['duration_ms']).to.be.below(4000);
        client.socket.destroy();
      });
  }
});
