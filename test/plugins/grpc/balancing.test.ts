import { expect } from 'chai';
import { type RunningHost, startHost } from '../../support/start-host.js';
import { useKept } from '../../support/use.js';
import { createCaller, describeLibrary } from './library-module.js';
import { startLibrary } from './library-server.js';

const ROUTES = [{ method: 'POST', path: '/echo', operation: { grpc: 'library.v1.Echo/Echo' } }];

describe('endpoints of kind grpc', () => {
  const keep = useKept();
  let host: RunningHost | null = null;

  afterEach(async () => {
    await host?.stop();
  });

  const serve = async () => {
    return keep(await startLibrary({ Echo: async () => [{ aBool: true }] }));
  };

  const start = async (endpoints: readonly (string | object)[]) => {
    host = await startHost({ files: describeLibrary(ROUTES, '', {}, { endpoints }) });
    const { url } = host;
    return () => createCaller(url)('/echo', { method: 'POST', body: '{}' });
  };

  it('get their share of the calls', async () => {
    const [one, three] = [await serve(), await serve()];
    const call = await start([one.url, { url: three.url, weight: 3 }]);
    for (let count = 0; count < 8; count += 1) expect((await call()).status).to.equal(200);
    expect([one.calls.length, three.calls.length]).to.deep.equal([2, 6]);
  });

  it('get a POST that another one could not be sent', async () => {
    const [up, down] = [await serve(), await serve()];
    await down.stop();
    const call = await start([down.url, up.url]);
    for (let count = 0; count < 4; count += 1) expect((await call()).status).to.equal(200);
    expect(up.calls).to.have.length(4);
  });
});
