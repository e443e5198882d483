import { expect } from 'chai';
import { headerValue, type RawHeader } from '../../../../core/selftest/raw-http.js';
import type { Answer } from '../../../support/echo-provider.js';
import { call } from '../../../support/http/call.js';
import { expectProblem } from '../../../support/http/expect-problem.js';
import { describeModule, toRoutes } from '../../../support/http/modules.js';
import { useHost } from '../../../support/http/use-host.js';

const FILES = 'https://files.example';
const TARGET = '/modules/moved/http/a/b';
const PREFIX = '/modules/moved/http';

describe('redirects in raw mode', () => {
  const setup = useHost(({ url }) => {
    const routes = toRoutes(['GET /a/b', 'POST /a/b'], 'use');
    const describe = (name: string, responses: object, endpoint = `${url}/base`) =>
      describeModule(name, endpoint, routes, { responses });
    return {
      'moved.json': describe('moved', {
        mode: 'raw',
        redirects: ['module', FILES],
        origins: ['https://other.example'],
      }),
      'away.json': describe('away', { mode: 'raw', redirects: [FILES], expose_headers: ['etag'] }),
      'none.json': describe('none', { mode: 'raw' }),
      'accepting.json': describeModule('accepting', url, routes, { forward_headers: ['accept'] }),
    };
  });
  const get = (answer: Answer, target = TARGET, headers: readonly RawHeader[] = []) => {
    setup.provider.answer(answer);
    return call(setup.host, { target, headers });
  };
  const redirect = (location: string, status = 302): Answer => ({
    status,
    headers: [
      ['location', location],
      ['content-type', 'text/html'],
    ],
    body: '<p>moved',
  });

  const PASSED: Readonly<Record<string, string>> = {
    '/base/x?y=1#z': `${PREFIX}/x?y=1#z`,
    c: `${PREFIX}/a/c`,
    '../c': `${PREFIX}/c`,
    '?page=2': `${PREFIX}/a/b?page=2`,
    '/base': `${PREFIX}/`,
    '/base/a b': `${PREFIX}/a%20b`,
    'https://files.example/f g': 'https://files.example/f%20g',
    'https://other.example/c': `${PREFIX}/c`,
    'https://files.example/f?sig=1': 'https://files.example/f?sig=1',
  };
  for (const [location, expected] of Object.entries(PASSED)) {
    it(`pass with the location ${location}`, async () => {
      for (const status of [301, 302, 303, 307, 308]) {
        const response = await get(redirect(location, status));
        expect(response.status).to.equal(status);
        expect(headerValue(response.headers, 'location')).to.equal(expected);
        expect(response.body).to.have.length(0);
        expect(headerValue(response.headers, 'content-type')).to.equal(undefined);
      }
    });
  }

  const REJECTED = [
    ...['/elsewhere', '../../../x', 'https://files.example.evil/', 'http://files.example/f'],
    ...['https://evil.example/', 'https://files.example:8443/', '//evil.example/', 'javascript:1'],
    ...['/base/\\evil.example', 'https://user@files.example.evil/', 'https://', ''],
  ];
  for (const location of REJECTED) {
    it(`are 502 with the location ${JSON.stringify(location)}`, async () => {
      expectProblem(await get(redirect(location)), 502);
    });
  }

  it('are 502 for any other status of their class, and for one that names no redirects', async () => {
    for (const status of [300, 305, 306, 309, 399]) {
      expectProblem(await get(redirect('/base/x', status)), 502);
    }
    expectProblem(await get(redirect('/base/x'), '/modules/none/http/a/b'), 502);
    expectProblem(await get(redirect('/base/x'), '/modules/away/http/a/b'), 502);
  });

  it('have their location where the descriptor exposes other headers', async () => {
    const response = await get(redirect(`${FILES}/f`), '/modules/away/http/a/b');
    expect(response.status).to.equal(302);
    expect(headerValue(response.headers, 'location')).to.equal(`${FILES}/f`);
  });

  it('are forwarded without a location before the end of an upload', async () => {
    const incomplete: Answer = { status: 308, headers: [], body: null };
    expect((await get(incomplete)).status).to.equal(308);
    expectProblem(await get({ ...incomplete, status: 307 }), 502);
    expectProblem(await get(incomplete, '/modules/away/http/a/b'), 502);
  });

  describe('and the types that the client accepts', () => {
    const accepted = async (target: string, ...headers: RawHeader[]) => {
      setup.provider.reset();
      await get({}, target, headers);
      return setup.provider.only().headers.find(([name]) => name === 'accept')?.[1];
    };

    it('pass it to the provider, JSON first where it is anything', async () => {
      const any = 'application/json, */*;q=0.1';
      expect(await accepted(TARGET)).to.equal(any);
      expect(await accepted(TARGET, ['accept', '*/*'])).to.equal(any);
      expect(await accepted(TARGET, ['accept', 'text/csv'])).to.equal('text/csv');
      const hopByHop: RawHeader[] = [
        ['accept', 'text/csv'],
        ['connection', 'close, accept'],
      ];
      expect(await accepted(TARGET, ...hopByHop)).to.equal(any);
    });

    it('pass it in the envelope only where forward_headers names it', async () => {
      const target = '/modules/accepting/http/a/b';
      const vendor = 'application/vnd.api+json';
      expect(await accepted(target, ['accept', vendor])).to.equal(vendor);
      expect(await accepted(target)).to.equal('application/json');
    });
  });

  it('are listed with the module', async () => {
    const { modules } = JSON.parse(
      (await call(setup.host, { target: '/modules' })).body.toString(),
    );
    const [moved] = modules.filter((entry: { name: string }) => entry.name === 'moved');
    expect(moved.responses).to.deep.include({
      redirects: ['module', FILES],
      origins: ['https://other.example'],
    });
  });
});
