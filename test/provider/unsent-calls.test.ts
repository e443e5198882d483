import { expect } from 'chai';
import { findFreePort } from '../support/free-port.js';
import { call } from '../support/http/call.js';
import { waitUntil } from '../support/http/wait-until.js';
import { callItems, describeItems, findLine } from '../support/provider/routes.js';
import { startProvider, startRawProvider } from '../support/provider.js';
import { startHost } from '../support/start-host.js';
import { use } from '../support/use.js';

const ROUNDS = 4;
/** More than the host reads before it calls the provider. */
const LONG = Buffer.alloc(200_000, 7);

const UPLOAD = {
  protocol: 'modgate.manifest.v1',
  module_id: 'upload',
  capabilities: ['items.use'],
  http_routes: [
    {
      method: 'POST',
      path: '/items',
      capability: 'items.use',
      operation: { body: 'bytes', body_types: ['*/*'] },
    },
  ],
};

describe('calls of which nothing was sent', () => {
  const good = use(startProvider);
  const closing = use(() => startRawProvider((socket) => socket.destroy()));
  const host = use(async () => {
    const port = await findFreePort();
    const others = { breaker: { failures: 1000 }, retry: { budget: 1 } };
    const ways = {
      refused: `http://127.0.0.1:${port}`,
      handshake: `https://127.0.0.1:${closing.port}`,
      plaintext: `https://127.0.0.1:${good.port}`,
      unknown: 'https://host.invalid',
    };
    const files: Record<string, object> = {};
    for (const [name, bad] of Object.entries(ways)) {
      files[`${name}.json`] = describeItems(name, { endpoints: [bad, good.url] }, others);
    }
    const endpoints = [ways.refused, good.url];
    files['never.json'] = describeItems('never', { endpoints }, { retry: { attempts: 0 } });
    files['upload.json'] = describeItems(
      'upload',
      { endpoints },
      { ...others, manifest: { inline: UPLOAD } },
    );
    files['single.json'] = describeItems('single', { endpoints: [ways.refused] }, others);
    return startHost({ files });
  });

  for (const module of ['refused', 'handshake', 'plaintext', 'unknown']) {
    for (const method of ['POST', 'DELETE']) {
      it(`are repeated at another endpoint: ${method}, ${module}`, async () => {
        const before = good.requests.length;
        for (let round = 0; round < ROUNDS; round += 1) {
          const response = await callItems(host, module, { method });
          expect(response.status, response.body.toString()).to.equal(200);
        }
        expect(good.requests.length - before).to.equal(ROUNDS);
      });
    }
  }

  it('are repeated with a body that flows', async () => {
    const before = good.requests.length;
    for (let round = 0; round < ROUNDS; round += 1) {
      const target = '/modules/upload/http/items';
      const headers = [['content-type', 'image/png']] as const;
      const response = await call(host, { method: 'POST', target, headers, body: LONG });
      expect(response.status, response.body.toString()).to.equal(200);
    }
    const bodies = good.requests.slice(before).map(({ body }) => body.length);
    expect(bodies).to.deep.equal(Array(ROUNDS).fill(LONG.length));
  });

  it('count their attempts', async () => {
    const ids = ['unsent-0', 'unsent-1'];
    for (const id of ids) {
      await callItems(host, 'refused', { method: 'POST', headers: [['x-request-id', id]] });
    }
    await waitUntil('the log lines', () => ids.every((id) => findLine(host, id) !== undefined));
    const attempts = ids.map((id) => findLine(host, id)?.['attempts']);
    expect(attempts).to.have.members([1, 2]);
  });

  it('are not repeated with retry.attempts 0', async () => {
    const statuses: number[] = [];
    for (let round = 0; round < 2; round += 1) {
      statuses.push((await callItems(host, 'never', { method: 'POST' })).status);
    }
    expect(statuses).to.have.members([200, 502]);
  });

  it('are not repeated at the only endpoint', async () => {
    const headers = [['x-request-id', 'unsent-single']] as const;
    expect((await callItems(host, 'single', { method: 'POST', headers })).status).to.equal(502);
    await waitUntil('the log line', () => findLine(host, 'unsent-single') !== undefined);
    expect(findLine(host, 'unsent-single')).to.include({ attempts: 1, failure: 'unavailable' });
  });
});
