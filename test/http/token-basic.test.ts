import { expect } from 'chai';
import { headerValues, type RawHeader } from '../../core/selftest/raw-http.js';
import { call } from '../support/http/call.js';
import { expectProblem } from '../support/http/expect-problem.js';
import { describeModule, toRoutes } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';

const CALLER = 'dev-service:git:repo.use';
const TARGET = '/modules/repo/http/info';
const PUBLIC_URL = 'https://gateway.example';

const basic = (user: string, password: string): RawHeader => [
  'authorization',
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
];

describe('a token as a password', () => {
  const files = ({ url }: { readonly url: string }) => ({
    'repo.json': describeModule('repo', url, toRoutes(['GET /info', 'POST /info'], 'repo.use')),
  });

  describe('with --token-basic', () => {
    const setup = useHost(files, {
      args: ['--token-basic', '--public-url', PUBLIC_URL, '--allow-dev-auth-anywhere'],
    });
    const send = (headers: readonly RawHeader[], method = 'GET', target = TARGET) => {
      const hasBody = method === 'POST';
      return call(setup.host, {
        method,
        target,
        as: null,
        headers: hasBody ? [...headers, ['content-type', 'application/json']] : headers,
        ...(hasBody && { body: Buffer.from('{}') }),
      });
    };

    it('is accepted with any user name', async () => {
      for (const user of ['', 'git', 'x-access-token', 'ü']) {
        expect((await send([basic(user, CALLER)])).status, user).to.equal(200);
      }
      const { headers } = setup.provider.requests[0] ?? { headers: [] };
      expect(headers.find(([name]) => name === 'modgate-actor')?.[1]).to.equal('service:git');
      expect(headers.map(([name]) => name)).not.to.include('authorization');
    });

    it('is not accepted unless it is a valid token, user name and password', async () => {
      const broken = ['', '!!!', Buffer.from('no-colon').toString('base64')];
      const headers: RawHeader[] = [
        basic('git', 'dev-nobody'),
        basic('git', ''),
        ...broken.map((text): RawHeader => ['authorization', `Basic ${text}`]),
      ];
      for (const header of headers) {
        const response = await send([header]);
        expect(response.status, header[1]).to.equal(401);
        const challenges = headerValues(response.headers, 'www-authenticate');
        expect(challenges).to.deep.equal(['Basic realm="modgate", Bearer']);
      }
      expect(setup.provider.requests).to.have.length(0);
    });

    it('needs a trusted page where a page sends it', async () => {
      const password = basic('git', CALLER);
      const pages: readonly (readonly [RawHeader[], number])[] = [
        [[], 200],
        [[['origin', PUBLIC_URL]], 200],
        [[['sec-fetch-site', 'same-origin']], 200],
        [[['origin', 'https://evil.example']], 403],
        [[['sec-fetch-site', 'cross-site']], 403],
        [[['origin', 'null']], 403],
      ];
      for (const [headers, status] of pages) {
        const response = await send([password, ...headers], 'POST');
        expect(response.status, headers.join()).to.equal(status);
      }
      const read = await send([password, ['origin', 'https://evil.example']]);
      expect(read.status).to.equal(200);
    });

    it('is not accepted by surfaces', async () => {
      const response = await send([basic('git', CALLER)], 'GET', '/docs');
      expectProblem(response, 401);
      expect(headerValues(response.headers, 'www-authenticate').join()).not.to.include('Basic');
    });

    it('is a scheme of the document', async () => {
      const response = await send([basic('git', CALLER)], 'GET', '/openapi.json');
      const { components } = JSON.parse(response.body.toString());
      expect(components.securitySchemes).to.deep.include({
        basic: { type: 'http', scheme: 'basic' },
      });
    });
  });

  describe('without --token-basic', () => {
    const setup = useHost(files);

    it('is not accepted', async () => {
      const headers = [basic('git', CALLER)];
      const response = await call(setup.host, { target: TARGET, as: null, headers });
      expectProblem(response, 401);
      expect(headerValues(response.headers, 'www-authenticate')).to.deep.equal(['Bearer']);
    });
  });
});
