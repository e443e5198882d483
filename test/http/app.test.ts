import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { call } from '../support/http/call.js';
import { describeModule } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';

const FINISH = 'http.server.response.finish';

describe('Koa application', () => {
  const routes = [{ method: 'GET', path: '/items', capability: 'shop.read' }];
  const setup = useHost((provider) => ({
    'shop.json': describeModule('shop', provider.url, routes),
  }));

  // `handleRequest`, which `HostApp` overrides, is private to Koa.
  it('does not let Koa listen for the end of a response', async () => {
    const listeners: number[] = [];
    const count = (message: unknown) => {
      const { request, response } = message as {
        request: IncomingMessage;
        response: ServerResponse;
      };
      if (request.url === '/modules/shop/http/items') {
        listeners.push(response.listenerCount('finish'));
      }
    };
    subscribe(FINISH, count);
    try {
      expect(await call(setup.host, { target: '/modules/shop/http/items' })).to.include({
        status: 200,
      });
    } finally {
      unsubscribe(FINISH, count);
    }
    expect(listeners).to.deep.equal([1]); // Node's own.
  });
});
