import { expect } from 'chai';
import { headerValue, type RawHeader } from '../../core/selftest/raw-http.js';
import { call, parseJson } from '../support/http/call.js';
import {
  APP,
  bearer,
  COOKIE,
  PUBLIC_URL,
  TARGET,
  TOKEN,
  useCredentials,
} from '../support/http/use-credentials.js';

describe('credentials from any header', () => {
  const setup = useCredentials();
  const { send, actorOf, start, writeConfig } = setup;

  describe('in a cookie', () => {
    const remove = (...headers: RawHeader[]) =>
      send([['cookie', COOKIE], ...headers], { method: 'DELETE' });

    for (const headers of [
      [['sec-fetch-site', 'same-origin']],
      [['origin', PUBLIC_URL]],
      [['origin', APP]],
    ] as RawHeader[][]) {
      it(`change something with ${headers.join(' ')}`, async () => {
        expect((await remove(...headers)).status).to.equal(200);
      });
    }

    const FORGED: readonly (readonly RawHeader[])[] = [
      [],
      [['origin', 'null']],
      [['origin', 'https://evil.example']],
      [['origin', `${PUBLIC_URL}.evil.example`]],
      [['origin', `${PUBLIC_URL}/`]],
      [['origin', `${PUBLIC_URL}:443`]],
      [['origin', 'http://gateway.example']],
      [
        ['origin', APP],
        ['origin', 'https://evil.example'],
      ],
      [['sec-fetch-site', 'same-site']],
      [['sec-fetch-site', 'none']],
      [['sec-fetch-site', 'cross-site']],
      [['referer', `${PUBLIC_URL}/`]],
    ];
    for (const headers of FORGED) {
      it(`are 403 with ${headers.join(' ') || 'no origin'}`, async () => {
        const response = await remove(...headers);
        expect(response.status).to.equal(403);
        expect(parseJson(response)['detail']).to.match(/pages of a trusted origin/);
        expect(setup.provider.requests).to.have.length(0);
      });
    }

    it('do not count the own address beside a public URL', async () => {
      expect((await remove(['origin', setup.host.url])).status).to.equal(403);
    });

    it('are 403 before an unknown module, and after 401', async () => {
      const target = '/modules/absent/http/x';
      const unknown = await send([['cookie', COOKIE]], { method: 'POST', target });
      expect(unknown.status).to.equal(403);
      expect((await send([['cookie', 'acme=other']], { method: 'POST' })).status).to.equal(401);
    });

    it('read from any page', async () => {
      for (const method of ['GET', 'HEAD']) {
        const response = await send(
          [
            ['cookie', COOKIE],
            ['origin', 'null'],
          ],
          { method },
        );
        expect(response.status).to.equal(200);
      }
    });

    it('are not read for a request with other credentials', async () => {
      const response = await send([bearer(TOKEN), ['cookie', COOKIE]], { method: 'DELETE' });
      expect(response.status).to.equal(200);
      expect(actorOf()).to.equal('service:billing');
    });

    it('come with the header that browsers need', async () => {
      const response = await send([
        ['cookie', COOKIE],
        ['origin', APP],
      ]);
      expect(headerValue(response.headers, 'access-control-allow-credentials')).to.equal('true');
    });
  });

  it('trusts pages of its own address where there is no public URL', async () => {
    const own = await start(writeConfig('own.yaml', 'authenticators: [acme-cookie]'));
    try {
      const remove = (...headers: RawHeader[]) =>
        call(own, {
          method: 'DELETE',
          target: TARGET,
          as: null,
          headers: [['cookie', COOKIE], ...headers],
        });
      const local = `localhost:${own.port}`;
      expect((await remove(['origin', own.url])).status).to.equal(200);
      expect((await remove(['host', local], ['origin', `http://${local}`])).status).to.equal(200);
      const forged: readonly RawHeader[][] = [
        [['origin', `http://${local}`]],
        [['origin', own.url.replace('http:', 'https:')]],
        [['origin', 'http://127.0.0.1:1']],
        [
          ['host', 'evil.example'],
          ['origin', 'http://evil.example'],
        ],
        [
          ['host', '127.0.0.1.evil.example'],
          ['origin', 'http://127.0.0.1.evil.example'],
        ],
        [
          ['origin', 'http://evil.example'],
          ['x-forwarded-host', 'evil.example'],
        ],
      ];
      for (const headers of forged) {
        expect((await remove(...headers)).status, headers.join(' ')).to.equal(403);
      }
    } finally {
      await own.stop();
    }
  });
});
