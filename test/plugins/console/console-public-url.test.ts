import { expect } from 'chai';
import { headerValue } from '../../../core/selftest/raw-http.js';
import { createWorkplace } from '../../support/cli/run-in.js';
import { callConsole, OPS, readSetCookie } from '../../support/console/console-client.js';
import { call } from '../../support/http/call.js';
import { useHost } from '../../support/http/use-host.js';

const ORIGIN = 'https://console.example';

describe('the console of a host with a public URL', () => {
  const setup = useHost(() => ({}), {
    args: ['--public-url', ORIGIN, '--allow-dev-auth-anywhere'],
  });

  const place = createWorkplace();

  const signIn = (origin: string) =>
    callConsole(setup.host, {
      method: 'POST',
      path: '/session',
      body: { token: OPS },
      headers: [['origin', origin]],
    });

  it('has a cookie for its host only, over https only', async () => {
    const response = await signIn(ORIGIN);
    expect(response.status).to.equal(204);
    const [cookie = ''] = readSetCookie(response);
    expect(cookie).to.match(
      /^__Host-modgate=[A-Za-z0-9_-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
    );
    const [pair = ''] = cookie.split(';');
    const status = async (sent: string) =>
      (await callConsole(setup.host, { path: '/session', cookie: sent })).status;
    expect(await status(pair)).to.equal(200);
    expect(await status(pair.replace('__Host-', ''))).to.equal(401);
  });

  it('compares the origin of the public URL, not that of the connection', async () => {
    expect((await signIn(`http://127.0.0.1:${setup.host.port}`)).status).to.equal(403);
    expect((await signIn('https://console.example.evil')).status).to.equal(403);
  });

  it('does not count on modules, although the cookie has the path /', async () => {
    const [cookie = ''] = readSetCookie(await signIn(ORIGIN));
    const headers = [['cookie', cookie.split(';')[0] ?? '']] as const;
    const response = await call(setup.host, { target: '/modules', as: null, headers });
    expect(response.status).to.equal(401);
  });

  it('forbids frames, also around its answers', async () => {
    const response = await callConsole(setup.host, { path: '/sign-in' });
    const policy = headerValue(response.headers, 'content-security-policy');
    expect(policy).to.contain("frame-ancestors 'none'");
  });

  describe('modgate sessions', () => {
    const run = (...args: readonly string[]) =>
      place.run(['sessions', ...args, '--url', setup.host.url, '--token', OPS]);

    it('lists sessions and ends one', async () => {
      const [cookie = ''] = readSetCookie(await signIn(ORIGIN));
      const listed = await run('--json');
      expect(listed.code, listed.stderr).to.equal(0);
      const { sessions } = JSON.parse(listed.stdout) as { sessions: { id: string }[] };
      const { id = '' } = sessions.at(-1) ?? {};
      const table = await run();
      expect(table.stdout)
        .to.match(/^ID +ACTOR +CREATED +USED +EXPIRES$/m)
        .and.contain(id);
      expect(await run('end', id)).to.include({ code: 0, stdout: `ended ${id}\n` });
      const session = { path: '/session', cookie: cookie.split(';')[0] ?? '' };
      expect((await callConsole(setup.host, session)).status).to.equal(401);
      expect((await run('end', id)).stderr).to.contain('there is no such session');
    });

    it('rejects a text that is no id', async () => {
      expect((await run('end', '../x')).code).to.equal(2);
    });
  });
});
