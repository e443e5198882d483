import { expect } from 'chai';
import { RawConnection } from '../../../core/selftest/raw-http.js';
import { ROOT } from '../../support/http/call.js';
import { describeWideModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';

const CONNECTIONS = 100;

describe('requests that are sent before their forerunners are answered', () => {
  const setup = useHost((provider) => ({
    'wide.json': describeWideModule('wide', provider.url),
  }));
  const head = (line: string) =>
    `${line} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${ROOT}\r\n`;

  it('are heard by nobody behind one that ends the connection', async () => {
    setup.provider.reset();
    const refused = `${head('POST /modules/wide/http/items')}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`;
    const hidden = `${head('GET /modules/wide/http/items')}\r\n`;
    for (let count = 0; count < CONNECTIONS; count += 1) {
      const connection = await RawConnection.open(setup.host.port);
      connection.write(refused + hidden);
      expect((await connection.readFinal()).status).to.equal(501);
      await connection.closed();
      expect(connection.unread).to.equal('');
    }
    expect(setup.provider.requests).to.have.length(0);
  });

  it('are answered in their turn behind one that does not', async () => {
    setup.provider.reset();
    const connection = await RawConnection.open(setup.host.port);
    connection.write(`${head('GET /modules/wide/http/items')}\r\n`.repeat(20));
    for (let count = 0; count < 20; count += 1) {
      expect((await connection.readFinal()).status).to.equal(200);
    }
    connection.destroy();
    expect(setup.provider.requests).to.have.length(20);
  });

  for (const expectation of ['', 'expect: 100-continue\r\n']) {
    it(`are answered before what is no HTTP behind them is refused ${expectation.trim()}`, async () => {
      setup.provider.reset();
      const connection = await RawConnection.open(setup.host.port);
      const lines = 'content-type: application/json\r\ncontent-length: 2\r\n';
      const posted = `${head('POST /modules/wide/http/items')}${lines}${expectation}\r\n{}`;
      connection.write(`${posted}no HTTP\r\n\r\n`);
      expect((await connection.readFinal()).status).to.equal(200);
      expect((await connection.readFinal()).status).to.equal(400);
      await connection.closed();
      expect(setup.provider.requests).to.have.length(1);
    });
  }
});
