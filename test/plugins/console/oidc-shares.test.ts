import { writeFileSync } from 'node:fs';
import http, { type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { waitUntil } from '../../support/http/wait-until.js';
import { type HostProcess, startHostProcess } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';

const CALLBACK = '/console/api/oidc/callback';
const LIMITED = '/console?sign_in=limited';
const MAX_OF_CLIENT = 8;
const MAX_EXCHANGES = 20;

/** An issuer that does not name itself in its answers, and knows no code. */
class PlainIssuer {
  url = '';
  exchanges = 0;
  /** Whether the issuer sends no metadata. */
  isSlow = false;
  waiting: (() => void)[] = [];
  readonly #server: Server = http.createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    if (request.url?.startsWith('/token')) {
      this.exchanges += 1;
      response.writeHead(400).end('{"error":"invalid_grant"}');
      return;
    }
    const answer = () =>
      response.end(
        JSON.stringify({
          issuer: this.url,
          authorization_endpoint: `${this.url}/auth`,
          token_endpoint: `${this.url}/token`,
          jwks_uri: `${this.url}/jwks`,
          code_challenge_methods_supported: ['S256'],
        }),
      );
    if (this.isSlow) this.waiting.push(answer);
    else answer();
  });

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

interface Answered {
  readonly status: number;
  readonly location: string;
  readonly cookie: string;
}

describe('sign-ins at issuers by clients without a session', () => {
  const [first, other, slow] = [new PlainIssuer(), new PlainIssuer(), new PlainIssuer()];
  let folder: string;
  let host: HostProcess;

  before(async () => {
    folder = createFolder();
    const issuers = [first, other, slow];
    for (const issuer of issuers) await issuer.listen();
    const trusted = issuers.map(({ url }) => ({
      issuer: url,
      audience: 'host',
      algorithms: ['RS256'],
      jwks: { url: `${url}/jwks` },
      actor: { kind: 'user', id: 'sub' },
    }));
    const oidc = issuers.map(({ url }) => ({ issuer: url, client_id: 'console' }));
    const file = join(folder, 'issuers.json');
    const config = join(folder, 'modgate.yaml');
    writeFileSync(file, JSON.stringify({ issuers: trusted }));
    writeFileSync(config, JSON.stringify({ issuers: file, surfaces: { console: { oidc } } }));
    host = await startHostProcess({ dev: false, args: ['--config', config, '--workers', '2'] });
  });

  after(async () => {
    await host.kill();
    for (const issuer of [first, other, slow]) issuer.close();
  });

  const get = (target: string, localAddress: string, cookie = '', body = '') =>
    new Promise<Answered>((resolve, reject) => {
      const headers = {
        'sec-fetch-site': 'same-origin',
        'content-type': 'application/json',
        cookie,
      };
      const method = body === '' ? 'GET' : 'POST';
      const options = { method, headers, localAddress, agent: false };
      const request = http.request(host.url + target, options, (response) => {
        const { location = '', 'set-cookie': set = [] } = response.headers;
        const status = response.statusCode ?? 0;
        response.resume().on('end', () => {
          resolve({ status, location, cookie: set[0]?.split(';', 1)[0] ?? '' });
        });
      });
      request.on('error', reject).end(body);
    });
  const start = (issuer: PlainIssuer, from: string) =>
    get(`/console/api/oidc/start?issuer=${encodeURIComponent(issuer.url)}`, from);
  const begin = async (issuer: PlainIssuer, from: string) => {
    const { status, location, cookie } = await start(issuer, from);
    expect(status).to.equal(302);
    const { searchParams } = new URL(location);
    const { pathname } = new URL(searchParams.get('redirect_uri') ?? '');
    return { cookie, state: searchParams.get('state') ?? '', callback: pathname };
  };

  it('return to a path of their issuer, and no other issuer gets the code', async () => {
    const from = '127.0.2.1';
    const begun = await begin(first, from);
    expect(begun.callback).to.equal(`${CALLBACK}/${new URL(first.url).host.replace(':', '-')}`);
    const otherCallback = (await begin(other, from)).callback;
    const query = `?code=of-another&state=${begun.state}`;
    for (const path of [CALLBACK, otherCallback]) {
      const answer = await get(path + query, from, begun.cookie);
      expect(answer.location, path).to.equal('/console?sign_in=failed');
    }
    expect([first.exchanges, other.exchanges]).to.deep.equal([0, 0]);
    await get(begun.callback + query, from, begun.cookie);
    expect([first.exchanges, other.exchanges]).to.deep.equal([1, 0]);
  });

  it('use a state once, regardless of the worker', async () => {
    const from = '127.0.2.2';
    const before = first.exchanges;
    const { callback, state, cookie } = await begin(first, from);
    for (let round = 0; round < 12; round += 1) {
      await get(`${callback}?code=any&state=${state}`, from, cookie);
    }
    expect(first.exchanges - before).to.equal(1);
  });

  it('exchange few codes for one client', async () => {
    const from = '127.0.2.3';
    const before = first.exchanges;
    const locations: string[] = [];
    for (let round = 0; round < 2 * MAX_EXCHANGES + 2; round += 1) {
      const { callback, state, cookie } = await begin(first, from);
      const answer = await get(`${callback}?code=any&state=${state}`, from, cookie);
      expect(answer.status).to.equal(302);
      locations.push(answer.location);
    }
    expect(locations).to.include(LIMITED);
    expect(first.exchanges - before).to.be.at.most(2 * MAX_EXCHANGES);
  });

  it('do not keep others out while the issuer is slow', async () => {
    slow.isSlow = true;
    let limited = 0;
    const attack = Array.from({ length: 4 * MAX_OF_CLIENT }, () =>
      start(slow, '127.0.2.4').then(({ location }) => {
        if (location === LIMITED) limited += 1;
      }),
    );
    await waitUntil('too many wait', () => limited >= 2 * MAX_OF_CLIENT);
    expect((await start(first, '127.0.2.5')).status).to.equal(302);
    expect((await get('/console/api/sign-in', '127.0.2.4')).status).to.equal(200);
    const token = '{"token":"none-of-the-host"}';
    expect((await get('/console/api/session', '127.0.2.4', '', token)).status).to.equal(401);
    slow.isSlow = false;
    for (const answer of slow.waiting.splice(0)) answer();
    await Promise.all(attack);
  });
});
