import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Browser } from '../../support/console/browser.js';
import { callConsole } from '../../support/console/console-client.js';
import {
  AUDIENCE,
  CONSOLE_CLIENT,
  startSignInProvider,
} from '../../support/console/sign-in-provider.js';
import { useFleet } from '../../support/fleet.js';
import { waitUntil } from '../../support/http/wait-until.js';
import type { HostProcess } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';
import { useEach } from '../../support/use.js';

const TOKEN_SECONDS = 2;

describe('sessions whose tokens an issuer renews', () => {
  const fleet = useFleet();
  let folder: string;

  const provider = useEach(() => {
    folder = createFolder();
    return startSignInProvider({ tokenSeconds: TOKEN_SECONDS });
  });

  const startHosts = async (count: number): Promise<HostProcess[]> => {
    const { issuer } = provider;
    const trusted = { issuer, audience: AUDIENCE, algorithms: ['RS256'] };
    const source = { jwks: { url: `${issuer}/jwks` }, actor: { kind: 'user', id: 'sub' } };
    const issuers = join(folder, 'issuers.json');
    writeFileSync(issuers, JSON.stringify({ issuers: [{ ...trusted, ...source }] }));
    const client = { issuer, client_id: CONSOLE_CLIENT.id, client_secret: 'env:CONSOLE_SECRET' };
    const oidc = [{ ...client, scopes: ['openid', 'modgate.modules.read'], resource: AUDIENCE }];
    const config = join(folder, 'modgate.json');
    writeFileSync(config, JSON.stringify({ issuers, surfaces: { console: { oidc } } }));
    const env = { CONSOLE_SECRET: CONSOLE_CLIENT.secret };
    const start = () => fleet.start({ dev: false, args: ['--config', config], env });
    const hosts = await Promise.all(Array.from({ length: count }, start));
    provider.serve(`${hosts[0]?.url}/console/api/oidc/callback`);
    return hosts;
  };
  const signIn = async ({ url }: HostProcess) => {
    const browser = new Browser();
    // The store may open later than the host.
    await waitUntil('the store', async () => {
      const { visited } = await browser.open(
        `${url}/console/api/oidc/start?issuer=${provider.issuer}`,
      );
      return visited.at(-1)?.includes('sign_in=unavailable') === false;
    });
    return `modgate=${browser.jar(new URL(url).host).get('modgate')}`;
  };
  const readStatus = async (host: HostProcess, cookie: string) =>
    (await callConsole(host, { path: '/session', cookie })).status;
  const listRefreshTokens = () =>
    provider.exchanges
      .filter((body) => body.get('grant_type') === 'refresh_token')
      .map((body) => body.get('refresh_token') ?? '');

  it('outlive the tokens on every host, and are revoked at the issuer by a sign-out', async () => {
    const [first, second] = (await startHosts(2)) as [HostProcess, HostProcess];
    const cookie = await signIn(first);
    await waitUntil('three renewals', async () => {
      const asked = [first, second, first, second, first, second];
      const all = await Promise.all(asked.map((host) => readStatus(host, cookie)));
      expect(all).to.deep.equal([200, 200, 200, 200, 200, 200]);
      return listRefreshTokens().length >= 3;
    });
    const used = listRefreshTokens();
    // The issuer rotates them, and ends the grant when one comes twice.
    expect(new Set(used).size).to.equal(used.length);
    const method = 'DELETE';
    expect((await callConsole(second, { method, path: '/session', cookie })).status).to.equal(204);
    expect(await readStatus(first, cookie)).to.equal(401);
    expect(provider.revoked).to.have.lengthOf(1);
    expect(used).to.not.include(provider.revoked[0]);
  });

  it('continue while the issuer is down, after the token has expired', async () => {
    const [host] = (await startHosts(1)) as [HostProcess];
    const cookie = await signIn(host);
    expect(await readStatus(host, cookie)).to.equal(200);
    provider.outcome = 'down';
    const expiresAt = Date.now() + TOKEN_SECONDS * 1000;
    await waitUntil('the expiry', async () => {
      expect(await readStatus(host, cookie)).to.equal(200);
      return Date.now() > expiresAt + 500;
    });
    expect(host.output()).to.contain('token renewal failed');
  });
});
