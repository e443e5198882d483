import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { Semaphore } from '../../core/contract/semaphore.js';
import { Bulkhead } from '../../core/provider/bulkhead.js';
import { describeModule } from '../support/http/modules.js';
import { sendFrom } from '../support/http/send-from.js';
import { waitUntil } from '../support/http/wait-until.js';
import { parseExposition } from '../support/observability/exposition.js';
import { type RunningHost, startHost } from '../support/start-host.js';
import { type StreamingProvider, startStreamingProvider } from '../support/streaming-provider.js';

const PLACES = 8;
const ATTEMPTS = 12;
const TOKEN = { authorization: 'Bearer dev-service:crm:use' };
const ROUTES = [
  { method: 'GET', path: '/slow', capability: 'use', access: 'public' },
  { method: 'GET', path: '/own', capability: 'use' },
];

describe('callers of a slow public route', () => {
  let provider: StreamingProvider;
  let host: RunningHost;
  const held: ServerResponse[] = [];

  before(async () => {
    provider = await startStreamingProvider((request, response) => {
      response.setHeader('content-type', 'application/json');
      if (request.url === '/slow') held.push(response);
      else response.end('{}');
    });
    const limits = { concurrency: PLACES, queue: 0 };
    const describe = (name: string, routes: typeof ROUTES) =>
      describeModule(name, provider.url, routes, { public: true, limits });
    host = await startHost({
      files: {
        'mixed.json': describe('mixed', ROUTES),
        'open.json': describe('open', ROUTES.slice(0, 1)),
      },
    });
  });

  afterEach(async () => {
    for (const response of held.splice(0)) response.end('{}');
    for (const module of ['mixed', 'open']) {
      await waitUntil('the places are free', async () => (await readInFlight(module)) === 0);
    }
  });

  after(async () => {
    await host?.stop();
    await provider?.stop();
  });

  const readInFlight = async (module: string) => {
    const response = await fetch(`${host.url}/metrics`);
    return parseExposition(await response.text()).sum('modgate_in_flight', { module });
  };

  /** Calls the slow route, each time from the next of the addresses. @returns the places they take */
  const occupy = async (module: string, addresses: readonly string[]) => {
    let rejected = 0;
    for (let call = 0; call < ATTEMPTS; call += 1) {
      const address = addresses[call % addresses.length] ?? '';
      const target = `/modules/${module}/http/slow`;
      void sendFrom(address, host.port, { target }).then(({ status }) => {
        if (status === 502) rejected += 1;
      });
    }
    await waitUntil('all are decided', async () => {
      return (await readInFlight(module)) + rejected === ATTEMPTS;
    });
    return readInFlight(module);
  };
  const callOwn = () =>
    sendFrom('127.0.0.9', host.port, { target: '/modules/mixed/http/own', headers: TOKEN });

  it('leave places to callers with credentials, from one address and from many', async () => {
    const many = Array.from({ length: ATTEMPTS }, (_, index) => `127.0.1.${index + 1}`);
    for (const addresses of [['127.0.0.2'], ['127.0.0.3', '127.0.0.4'], many]) {
      expect(await occupy('mixed', addresses)).to.equal(6);
      for (let call = 0; call < 3; call += 1) expect((await callOwn()).status).to.equal(200);
      for (const response of held.splice(0)) response.end('{}');
      await waitUntil('the places are free', async () => (await readInFlight('mixed')) === 0);
    }
  });

  it('take all places where no route needs credentials', async () => {
    expect(await occupy('open', ['127.0.0.2'])).to.equal(PLACES);
  });

  it('keep out callers with credentials where places are not kept', () => {
    const fill = (enter: (share: string) => boolean) => {
      for (let call = 0; call < ATTEMPTS; call += 1) enter('anonymous:anonymous 127.0.0.2');
      return enter('service:crm');
    };
    const weak = new Semaphore(PLACES, 0);
    expect(fill((share) => weak.tryAcquire(share))).to.equal(false);
    const strong = new Bulkhead(PLACES, 0, { keepsPlaces: true });
    expect(fill((share) => strong.enter(share))).to.equal(true);
  });
});
