import { expect } from 'chai';
import { headerValue, type RawHeader } from '../../core/selftest/raw-http.js';
import { call, parseJson } from '../support/http/call.js';
import {
  APP,
  bearer,
  COOKIE,
  EXPIRED_COOKIE,
  PUBLIC_TARGET,
  PUBLIC_URL,
  SOCKET_TARGET,
  TARGET,
  TOKEN,
  useCredentials,
} from '../support/http/use-credentials.js';

const HANDSHAKE: readonly RawHeader[] = [
  ['connection', 'Upgrade'],
  ['upgrade', 'websocket'],
  ['sec-websocket-version', '13'],
  ['sec-websocket-key', 'dGhlIHNhbXBsZSBub25jZQ=='],
];

describe('credentials from any header', () => {
  const setup = useCredentials();
  const { send, actorOf, start, writeConfig } = setup;

  describe('in a cookie', () => {
    const remove = (...headers: RawHeader[]) =>
      send([['cookie', COOKIE], ...headers], { method: 'DELETE' });

    /** The provider answers the handshake as any other request. */
    const open = (...headers: readonly RawHeader[]) =>
      send([...HANDSHAKE, ['cookie', COOKIE], ...headers], { target: SOCKET_TARGET });

    for (const headers of [
      [['sec-fetch-site', 'same-origin']],
      [['origin', PUBLIC_URL]],
      [['origin', APP]],
    ] as RawHeader[][]) {
      it(`open a WebSocket with ${headers.join(' ')}`, async () => {
        expect((await open(...headers)).status).to.equal(200);
        expect(actorOf()).to.equal('service:cookie');
      });

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
      it(`open no WebSocket with ${headers.join(' ') || 'no origin'}`, async () => {
        const response = await open(...headers);
        expect(response.status).to.equal(403);
        expect(parseJson(response)['detail']).to.match(/pages of a trusted origin/);
        expect(headerValue(response.headers, 'connection')).to.equal('close');
        expect(setup.provider.requests).to.have.length(0);
      });

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

    it('are not read for a handshake with a token, which any page may send', async () => {
      const evil: RawHeader = ['origin', 'https://evil.example'];
      expect((await open(bearer(TOKEN), evil)).status).to.equal(200);
      expect(actorOf()).to.equal('service:billing');
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

  describe('in a cookie, on a public route', () => {
    const ANONYMOUS = 'anonymous:anonymous';
    const ask = (headers: readonly RawHeader[], method = 'GET') =>
      send(headers, { method, target: PUBLIC_TARGET });
    const expectActor = async (actor: string, ...headers: RawHeader[]) => {
      const response = await ask(headers);
      expect(response.status, response.body.toString()).to.equal(200);
      expect(actorOf()).to.equal(actor);
      setup.provider.reset();
    };

    it('are the actor where they are valid', async () => {
      await expectActor('service:cookie', ['cookie', COOKIE]);
    });

    it('are not a credential if no authenticator knows them', async () => {
      await expectActor(ANONYMOUS, ['cookie', 'acme=wrong']);
      await expectActor(ANONYMOUS, ['cookie', 'theme=dark; consent=1']);
    });

    it('are 401 where an authenticator rejects them', async () => {
      expect((await ask([['cookie', EXPIRED_COOKIE]])).status).to.equal(401);
      expect(setup.provider.requests).to.have.length(0);
    });

    it('are not a credential if they belong to the console, regardless of their content', async () => {
      for (const cookie of ['__Host-modgate=x', 'modgate=x', `modgate=${COOKIE}`]) {
        await expectActor(ANONYMOUS, ['cookie', cookie]);
      }
      await expectActor('service:cookie', ['cookie', `__Host-modgate=x; ${COOKIE}`]);
    });

    it('hide no bad credential of another header', async () => {
      for (const header of [
        bearer('unknown'),
        ['authorization', 'Digest x'],
        ['x-acme-key', 'wrong'],
      ] as RawHeader[]) {
        const response = await ask([['cookie', 'theme=dark'], header]);
        expect(response.status, header.join(' ')).to.equal(401);
      }
      await expectActor('service:billing', ['cookie', 'acme=wrong'], bearer(TOKEN));
    });

    it('hide no authorization that no authenticator reads', async () => {
      const ownHost = await start(writeConfig('cookies.yaml', 'authenticators: [acme-cookie]'));
      try {
        const status = async (...headers: RawHeader[]) =>
          (await call(ownHost, { target: PUBLIC_TARGET, as: null, headers })).status;
        expect(await status(['cookie', 'theme=dark'])).to.equal(200);
        expect(await status(bearer('unknown'))).to.equal(401);
        expect(await status(['cookie', 'theme=dark'], bearer('unknown'))).to.equal(401);
      } finally {
        await ownHost.stop();
      }
    });

    it('change something from trusted pages alone', async () => {
      const post = async (...headers: RawHeader[]) => (await ask(headers, 'POST')).status;
      expect(await post(['cookie', COOKIE], ['origin', APP])).to.equal(200);
      expect(await post(['cookie', COOKIE], ['origin', 'https://evil.example'])).to.equal(403);
      // Without a credential the caller is anonymous, whatever its page.
      expect(await post(['cookie', 'acme=wrong'], ['origin', 'https://evil.example'])).to.equal(
        200,
      );
    });
  });

  it('trusts pages of its own address without a public URL', async () => {
    const ownHost = await start(writeConfig('own.yaml', 'authenticators: [acme-cookie]'));
    try {
      const remove = (...headers: RawHeader[]) =>
        call(ownHost, {
          method: 'DELETE',
          target: TARGET,
          as: null,
          headers: [['cookie', COOKIE], ...headers],
        });
      const local = `localhost:${ownHost.port}`;
      expect((await remove(['origin', ownHost.url])).status).to.equal(200);
      expect((await remove(['host', local], ['origin', `http://${local}`])).status).to.equal(200);
      const forged: readonly RawHeader[][] = [
        [['origin', `http://${local}`]],
        [['origin', ownHost.url.replace('http:', 'https:')]],
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
      await ownHost.stop();
    }
  });
});
