import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { rejectStart } from '../../support/cli/reject-start.js';
import { Browser } from '../../support/console/browser.js';
import {
  AUDIENCE,
  CONSOLE_CLIENT,
  type SignInProvider,
  startSignInProvider,
} from '../../support/console/sign-in-provider.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { type RunningHost, startHost } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';

const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };

describe('sign-in to the console at an issuer', () => {
  let folder: string;
  let provider: SignInProvider;
  let host: RunningHost;
  let browser: Browser;

  before(async () => {
    folder = createFolder();
    provider = await startSignInProvider();
    const { issuer } = provider;
    const issuers = join(folder, 'issuers.json');
    const trusted = {
      issuer,
      audience: AUDIENCE,
      algorithms: ['RS256'],
      jwks: { url: `${issuer}/jwks` },
      actor: { kind: 'user', id: 'sub' },
    };
    writeFileSync(issuers, JSON.stringify({ issuers: [trusted] }));
    const client = { issuer, client_id: CONSOLE_CLIENT.id, client_secret: 'env:CONSOLE_SECRET' };
    const more = { scopes: ['openid', 'modgate.modules.read'], resource: AUDIENCE };
    const config = join(folder, 'modgate.yaml');
    const surfaces = { console: { oidc: [{ ...client, ...more }] } };
    writeFileSync(config, JSON.stringify({ issuers, surfaces }));
    host = await startHost({
      dev: false,
      args: ['--config', config],
      env: { CONSOLE_SECRET: CONSOLE_CLIENT.secret },
    });
    provider.serve(`${host.url}/console/api/oidc/callback`);
  });

  beforeEach(() => {
    browser = new Browser();
    provider.outcome = 'sign-in';
  });

  after(async () => {
    expect(host.output()).to.not.contain(CONSOLE_CLIENT.secret);
    const exit = await host.stop();
    await provider.close();
    expect(exit).to.deep.equal({ code: 0, signal: null });
  });

  const startUrl = (page = '/console/calls') => {
    const query = new URLSearchParams({ issuer: provider.issuer, return: page });
    return `${host.url}/console/api/oidc/start?${query}`;
  };
  const readSession = async () =>
    browser.send(`${host.url}/console/api/session`, { headers: SAME_ORIGIN });
  /** Goes to the issuer and stops before the host sees its answer. */
  const reachCallback = async (page?: string) => {
    let url = startUrl(page);
    while (!url.includes('/console/api/oidc/callback')) {
      const response = await browser.send(url);
      url = new URL(response.headers.get('location') ?? '', url).href;
    }
    return new URL(url);
  };
  const end = async (url: string) => {
    const response = await browser.send(url);
    return [response.status, response.headers.get('location')];
  };

  it('leads back to the page with a session of the access token', async () => {
    const { visited } = await browser.open(startUrl());
    expect(visited.at(-1)).to.equal(`${host.url}/console/calls`);
    const session = (await (await readSession()).json()) as Record<string, unknown>;
    expect(session['via']).to.equal('oidc');
    expect(session['actor']).to.deep.equal({
      kind: 'user',
      id: 'ann',
      scopes: ['modgate.modules.read', 'openid'].filter((scope) => scope !== 'openid'),
    });
    const jar = browser.jar(new URL(host.url).host);
    expect([...jar.keys()]).to.deep.equal(['modgate']);
  });

  it('sends the secret of a file as it is now', async () => {
    const { issuer } = provider;
    const client = { issuer, client_id: CONSOLE_CLIENT.id, client_secret: 'file:client-secret' };
    const config = join(folder, 'rotated.yaml');
    const surfaces = { console: { oidc: [{ ...client, resource: AUDIENCE }] } };
    writeFileSync(config, JSON.stringify({ issuers: join(folder, 'issuers.json'), surfaces }));
    writeFileSync(join(folder, 'client-secret'), 'the secret of last month\n');
    const rotated = await startHost({ dev: false, args: ['--config', config] });
    const callback = `${rotated.url}/console/api/oidc/callback`;
    provider.serve(callback);
    const signIn = async () => {
      const query = new URLSearchParams({ issuer, return: '/console' });
      const { visited } = await new Browser().open(
        `${rotated.url}/console/api/oidc/start?${query}`,
      );
      return visited.at(-1);
    };
    try {
      expect(await signIn()).to.equal(`${rotated.url}/console?sign_in=failed`);
      writeFileSync(join(folder, 'client-secret'), `${CONSOLE_CLIENT.secret}\n`);
      const isRead = () => rotated.output().includes('surface files reloaded');
      await waitUntil('the new secret', isRead);
      expect(await signIn()).to.equal(`${rotated.url}/console`);
      expect(rotated.output()).to.not.contain(CONSOLE_CLIENT.secret);
    } finally {
      await rotated.stop();
      provider.serve(`${host.url}/console/api/oidc/callback`);
    }
  });

  it('uses PKCE, state and nonce, which the cookie hides', async () => {
    const response = await browser.send(startUrl());
    const { searchParams } = new URL(response.headers.get('location') ?? '');
    expect(searchParams.get('code_challenge_method')).to.equal('S256');
    const secrets = ['state', 'nonce', 'code_challenge'].map(
      (name) => searchParams.get(name) ?? '',
    );
    for (const secret of secrets) expect(secret).to.match(/^[\w-]{40,}$/);
    const cookie = response.headers.getSetCookie()[0] ?? '';
    expect(cookie).to.match(/; Path=\/console\/api\/oidc; HttpOnly; SameSite=Lax; Max-Age=600$/);
    for (const secret of secrets) expect(cookie).to.not.contain(secret);
  });

  it('asks for the scopes of the configuration alone', async () => {
    const response = await browser.send(startUrl());
    const { searchParams } = new URL(response.headers.get('location') ?? '');
    expect(searchParams.get('scope')).to.equal('openid modgate.modules.read');
    expect(searchParams.has('prompt')).to.equal(false);
  });

  it('sends the verifier to the issuer once', async () => {
    const before = provider.exchanges.length;
    const callback = await reachCallback();
    const jar = new Map(browser.jar(callback.host));
    expect(await end(callback.href)).to.deep.equal([302, '/console/calls']);
    expect(provider.exchanges[before]?.get('code_verifier')).to.match(/^[\w-]{43,}$/);
    browser = new Browser();
    for (const [name, value] of jar) browser.jar(callback.host).set(name, value);
    expect(await end(callback.href)).to.deep.equal([302, '/console?sign_in=failed']);
    // The issuer is not asked again, so that nobody can make the host send its secret without end.
    expect(provider.exchanges.length - before).to.equal(1);
  });

  it('rejects an answer with another state, issuer or code', async () => {
    for (const [name, value] of [
      ['state', 'A'.repeat(43)],
      ['iss', 'http://127.0.0.1:1'],
      ['code', 'another'],
    ] as const) {
      const callback = await reachCallback();
      callback.searchParams.set(name, value);
      expect(await end(callback.href), name).to.deep.equal([302, '/console?sign_in=failed']);
      expect((await readSession()).status).to.equal(401);
    }
  });

  it('rejects the answer of another browser, and without the cookie', async () => {
    const callback = await reachCallback();
    const before = provider.exchanges.length;
    browser = new Browser();
    expect(await end(callback.href)).to.deep.equal([302, '/console?sign_in=failed']);
    await browser.send(startUrl());
    expect(await end(callback.href)).to.deep.equal([302, '/console?sign_in=failed']);
    expect((await readSession()).status).to.equal(401);
    expect(provider.exchanges.length).to.equal(before);
  });

  it('takes each of several tabs to its page', async () => {
    const pages = ['/console/calls', '/console/modules', '/console/plugins?kind=surface'];
    const callbacks: URL[] = [];
    for (const page of pages) callbacks.push(await reachCallback(page));
    const reached: unknown[] = [];
    for (const { href } of callbacks.reverse()) reached.push((await end(href))[1]);
    expect(reached.reverse()).to.deep.equal(pages);
    expect((await readSession()).status).to.equal(200);
  });

  it('keeps the pending sign-in after an answer with another state', async () => {
    const callback = await reachCallback();
    for (const state of ['A'.repeat(43), '', `${callback.searchParams.get('state')}&state=other`]) {
      const other = `${callback.origin}${callback.pathname}?code=x&state=${state}`;
      expect(await end(other), state).to.deep.equal([302, '/console?sign_in=failed']);
    }
    expect(await end(callback.href)).to.deep.equal([302, '/console/calls']);
  });

  it('keeps the 8 newest of many pending sign-ins, and few of those with long pages', async () => {
    const callbacks: URL[] = [];
    for (let tab = 0; tab < 10; tab += 1) callbacks.push(await reachCallback(`/console/${tab}`));
    const pending = () =>
      [...browser.jar(new URL(host.url).host)].filter(([name]) => name !== 'modgate');
    expect(pending()).to.have.lengthOf(8);
    const reached: unknown[] = [];
    for (const tab of [0, 1, 2, 9]) reached.push((await end(callbacks[tab]?.href ?? ''))[1]);
    const failed = '/console?sign_in=failed';
    expect(reached).to.deep.equal([failed, failed, '/console/2', '/console/9']);
    for (let tab = 0; tab < 8; tab += 1)
      await browser.send(startUrl(`/console?${'x'.repeat(1000)}`));
    expect(pending().join().length).to.be.lessThan(6500);
    await browser.send(startUrl(`/console?${'x'.repeat(10_000)}`));
    expect(pending().join().length).to.be.lessThan(6500);
  });

  it('continues to the page when another tab has signed in', async () => {
    const callback = await reachCallback();
    await browser.open(startUrl('/console/modules'));
    callback.searchParams.set('code', 'another');
    expect(await end(callback.href)).to.deep.equal([302, '/console/calls']);
    expect(await end(callback.href)).to.deep.equal([302, '/console']);
    expect((await readSession()).status).to.equal(200);
  });

  it('says that a sign-in took too long only if it did', async () => {
    const before = (minutes: number) => (Date.now() - minutes * 60_000).toString(36);
    for (const [time, why] of [
      [before(11), 'expired'],
      [before(1), 'failed'],
      [before(-1), 'failed'],
      ['nonsense', 'failed'],
    ]) {
      const query = `code=x&state=${'A'.repeat(43)}-${time}`;
      const callback = `${host.url}/console/api/oidc/callback?${query}`;
      expect(await end(callback), time).to.deep.equal([302, `/console?sign_in=${why}`]);
    }
  });

  it('reports that the sign-in was canceled', async () => {
    provider.outcome = 'cancel';
    const { visited } = await browser.open(startUrl());
    expect(visited.at(-1)).to.equal(`${host.url}/console?sign_in=denied`);
  });

  it('ends the start of the host with 2 for an issuer that the issuers file does not name', async () => {
    const other = { issuer: 'https://login.example', client_id: 'console' };
    const file = join(folder, 'other.yaml');
    const surfaces = { console: { oidc: [other] } };
    writeFileSync(file, JSON.stringify({ issuers: join(folder, 'issuers.json'), surfaces }));
    const args = ['serve', '--config', file, '--modules', folder, '--port', '0'];
    const { code, stderr } = await rejectStart([...args, '--state', join(folder, 'other')]);
    expect(code).to.equal(2);
    expect(stderr).to.contain(
      "surface 'console': surfaces.console.oidc names the issuer 'https://login.example': " +
        'add it to the issuers file',
    );
  });

  it('rejects an ID token whose signature is not that of the issuer', async () => {
    provider.outcome = 'other-signature';
    const { visited } = await browser.open(startUrl());
    expect(visited.at(-1)).to.equal(`${host.url}/console?sign_in=failed`);
    expect((await readSession()).status).to.equal(401);
  });

  it('returns only to pages of the console', async () => {
    for (const page of ['https://evil.example/', '//evil.example', '/modules', '/console/\\evil']) {
      browser = new Browser();
      const { visited } = await browser.open(startUrl(page));
      expect(visited.at(-1), page).to.equal(`${host.url}/console`);
    }
  });

  it('accepts only the configured issuers', async () => {
    const query = new URLSearchParams({ issuer: 'https://evil.example' });
    const response = await browser.send(`${host.url}/console/api/oidc/start?${query}`);
    expect(response.status).to.equal(400);
    const offered = await browser.send(`${host.url}/console/api/sign-in`);
    const name = new URL(provider.issuer).host;
    expect(await offered.json()).to.deep.include({
      developer: false,
      oidc: [{ issuer: provider.issuer, name }],
    });
  });
});
