import { brotliDecompressSync } from 'node:zlib';
import { expect } from 'chai';
import { call } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { useHost } from '../../support/http/use-host.js';

describe('the files of the docs page', () => {
  const setup = useHost(() => ({}));

  it('are sent without credentials, compressed as the client accepts it', async () => {
    const headers = [['accept-encoding', 'br']] as const;
    const page = await call(setup.host, { target: '/docs', as: null, headers });
    const [, script = ''] = /src="([^"]+)"/.exec(brotliDecompressSync(page.body).toString()) ?? [];
    expect(script).to.match(/^\/docs\/assets\/main-[A-Z0-9]{8}\.js$/);
    const plain = await call(setup.host, { target: script, as: null });
    const small = await call(setup.host, { target: script, as: null, headers });
    expect(small.body.length).to.be.below(plain.body.length / 2);
    expect(brotliDecompressSync(small.body)).to.deep.equal(plain.body);
  });

  it('take no body, and do not wait for it', async () => {
    const headers = [['content-length', '1']] as const;
    const post = await call(setup.host, { method: 'POST', target: '/docs', as: null, headers });
    expectProblem(post, 413, 'validation_failed');
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
