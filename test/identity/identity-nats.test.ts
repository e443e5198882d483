import { randomUUID } from 'node:crypto';
import { connect, headers as createHeaders, type NatsConnection } from '@nats-io/transport-node';
import { expect } from 'chai';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { NATS_URL, needNats } from '../plugins/nats/nats-server.js';
import { call } from '../support/http/call.js';
import { waitUntil } from '../support/http/wait-until.js';
import { type RunningHost, startHost } from '../support/start-host.js';

const SUBJECT = `modgate-test.identity.${randomUUID()}`;

describe('modgate-identity over NATS', () => {
  const tokens: string[] = [];
  let service: NatsConnection;
  let host: RunningHost;

  before(async function () {
    await needNats(this);
    service = await connect({ servers: NATS_URL });
    service.subscribe(`${SUBJECT}.>`, {
      callback: (_error, message) => {
        tokens.push(message.headers?.get('modgate-identity') ?? '');
        const headers = createHeaders();
        headers.set('modgate-status', '200');
        headers.set('content-type', 'application/json');
        message.respond('{"ok":true}', { headers });
      },
    });
    await service.flush();
    host = await startHost({
      files: {
        'crm.json': {
          module: 'crm',
          identity: true,
          provider: { kind: 'nats', config: { servers: [NATS_URL], subject: SUBJECT } },
          manifest: {
            inline: {
              protocol: 'modgate.manifest.v1',
              module_id: 'crm',
              capabilities: ['crm.read'],
              http_routes: [{ method: 'GET', path: '/items', capability: 'crm.read' }],
            },
          },
        },
      },
    });
  });

  after(async () => {
    await host?.stop();
    await service?.close();
  });

  it('identifies the caller in a token that the published keys verify', async () => {
    const target = '/modules/crm/http/items';
    const as = 'dev-service:billing:crm.read';
    await waitUntil('a response', async () => (await call(host, { target, as })).status === 200);
    const keys = createRemoteJWKSet(new URL(`${host.url}/.well-known/jwks.json`));
    const { payload } = await jwtVerify(tokens.at(-1) ?? '', keys, { audience: 'crm' });
    expect(payload.sub).to.equal('service:billing');
  });
});
