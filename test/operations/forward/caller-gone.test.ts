import { expect } from 'chai';
import { RawConnection } from '../../../core/selftest/raw-http.js';
import { call, ROOT } from '../../support/http/call.js';
import { describeWideModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';

describe('client that disconnects', () => {
  const setup = useHost((provider) => ({ 'wide.json': describeWideModule('wide', provider.url) }));
  const send = async (id: string) => {
    const connection = await RawConnection.open(setup.host.port);
    connection.write(
      `GET /modules/wide/http/a HTTP/1.1\r\nhost: 127.0.0.1:${setup.host.port}\r\n` +
        `authorization: Bearer ${ROOT}\r\nx-request-id: ${id}\r\n\r\n`,
    );
    await waitUntil('the call at the provider', () => setup.provider.requests.length === 1);
    return connection;
  };
  const findLine = (id: string) =>
    setup.host.logs().find((line) => line['msg'] === 'request' && line['request_id'] === id);

  it('is logged as 499 with the failure cancelled', async () => {
    setup.provider.answer({ raw: [], finally: 'hang' });
    (await send('gone-1')).destroy();
    await waitUntil('the log line', () => findLine('gone-1') !== undefined);
    expect(findLine('gone-1')).to.include({ status: 499, failure: 'cancelled' });
  });

  it('is assumed where the client closes its sending side', async () => {
    setup.provider.answer({ raw: [], finally: 'hang' });
    const connection = await send('half-closed');
    connection.end();
    await connection.closed();
    expect(connection.unread).to.equal('');
    await waitUntil('the log line', () => findLine('half-closed') !== undefined);
    expect(findLine('half-closed')).to.include({ status: 499, failure: 'cancelled' });
  });

  it('does not delay other clients', async () => {
    setup.provider.answer({ raw: [], finally: 'hang' });
    (await send('gone-2')).destroy();
    setup.provider.reset();
    expect((await call(setup.host, { target: '/modules/wide/http/a' })).status).to.equal(200);
  });
});
