import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { headerValue } from '../../../core/selftest/raw-http.js';
import { call } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { useHost } from '../../support/http/use-host.js';

describe('the files of the docs page', () => {
  const setup = useHost(() => ({}));

  it('are sent without credentials, compressed as the client accepts it', async () => {
    const headers = [['accept-encoding', 'gzip']] as const;
    const page = await call(setup.host, { target: '/docs', as: null, headers });
    const [, script = ''] = /src="([^"]+)"/.exec(gunzipSync(page.body).toString()) ?? [];
    expect(script).to.match(/^\/docs\/assets\/main-[A-Z0-9]{8}\.js$/);
    const plain = await call(setup.host, { target: script, as: null });
    const small = await call(setup.host, { target: script, as: null, headers });
    expect(small.body.length).to.be.below(plain.body.length / 2);
    expect(gunzipSync(small.body)).to.deep.equal(plain.body);
  });

  it('have the coding that the lines of the head accept together', async () => {
    const ask = async (...lines: readonly string[]) => {
      const headers = lines.map((line) => ['accept-encoding', line] as const);
      const page = await call(setup.host, { target: '/docs', as: null, headers });
      expect(page.status).to.equal(200);
      return headerValue(page.headers, 'content-encoding') ?? null;
    };
    expect(await ask()).to.equal(null);
    expect(await ask('GZIP;q=0.4, *;Q=0.5', 'identity;q=0.1')).to.equal('gzip');
    expect(await ask('br', 'gzip;q=0.9')).to.equal('gzip');
    expect(await ask('*;q=0')).to.equal(null);
    expect(await ask('a,'.repeat(7000), 'gzip')).to.equal('gzip');
  });

  it('take no body, and do not wait for it', async () => {
    const headers = [['content-length', '1']] as const;
    const send = (method: string, target: string) =>
      call(setup.host, { method, target, as: null, headers, framing: 'none' });
    expectProblem(await send('GET', '/docs'), 400, 'validation_failed');
    expectProblem(await send('GET', '/docs/routes'), 404);
    expectProblem(await send('POST', '/docs'), 405);
  });

  it('are at no other path, and have no other method', async () => {
    for (const target of ['/docs/routes', '/docs/assets', '/docs/assets/main.js']) {
      expectProblem(await call(setup.host, { target, as: null }), 404);
    }
    const post = await call(setup.host, { method: 'POST', target: '/docs', as: null });
    expectProblem(post, 405);
    expect(post.headers).to.deep.include(['allow', 'GET, HEAD']);
  });
});
