import { expect } from 'chai';
import { headerValue, type RawHeader } from '../../../core/selftest/raw-http.js';
import { call } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';

const ROUTES = [{ method: 'GET', path: '/items', capability: 'shop.read' }];
const PREFIX = '/modules/acme%2Fshop/http';
const TOLD = ['for', 'host', 'proto', 'prefix'].map((name) => `x-forwarded-${name}`);

describe('forward_client', () => {
  const files = ({ url }: { readonly url: string }) => ({
    'shop.json': describeModule('acme/shop', url, ROUTES, {
      forward_client: true,
      mount: [{ host: 'shop.example', path: '/api' }],
      responses: { expose_headers: ['location'] },
    }),
    'quiet.json': describeModule('quiet', url, ROUTES),
  });
  const trusting = ['--trusted-proxies', '127.0.0.1', '--allow-dev-auth-anywhere'];
  const publicHost = useHost(files, {
    args: [...trusting, '--public-url', 'https://gateway.example'],
  });
  const local = useHost(files, { args: ['--allow-dev-auth-anywhere'] });

  const tell = async (
    setup: typeof publicHost,
    target: string,
    headers: readonly RawHeader[] = [],
  ): Promise<(string | undefined)[]> => {
    const { status } = await call(setup.host, { target, headers });
    expect(status).to.equal(200);
    const received = setup.provider.requests.at(-1)?.headers ?? [];
    return TOLD.map((name) => headerValue(received, name));
  };

  it('sends the caller and the called address to the provider', async () => {
    const claimed = [
      ['x-forwarded-for', '198.51.100.1, 192.0.2.1'],
      ['x-forwarded-host', 'evil.example'],
      ['x-forwarded-proto', 'http'],
      ['x-forwarded-prefix', '/evil'],
    ] as const;
    const forwarded = ['192.0.2.1', 'gateway.example', 'https', PREFIX];
    expect(await tell(publicHost, `${PREFIX}/items`, claimed)).to.deep.equal(forwarded);
    const expected = ['127.0.0.1', `127.0.0.1:${local.host.port}`, 'http', PREFIX];
    expect(await tell(local, `${PREFIX}/items`, claimed)).to.deep.equal(expected);
  });

  it('sends the host and the path of the called mount', async () => {
    const forwarded = ['127.0.0.1', 'shop.example', 'https', '/api'];
    expect(await tell(publicHost, '/api/items', [['host', 'shop.example']])).to.deep.equal(
      forwarded,
    );
  });

  it('sends nothing to a module without it', async () => {
    const nothing = [undefined, undefined, undefined, undefined];
    const headers = [['x-forwarded-for', '192.0.2.1']] as const;
    expect(await tell(publicHost, '/modules/quiet/http/items', headers)).to.deep.equal(nothing);
  });

  it('forwards references that follow the headers sent to the provider', async () => {
    const locate = async (location: string) => {
      const json = 'application/json';
      publicHost.provider.answer({
        body: '{}',
        headers: [
          ['content-type', json],
          ['location', location],
        ],
      });
      const answer = await call(publicHost.host, { target: `${PREFIX}/items` });
      return headerValue(answer.headers, 'location');
    };
    const origin = 'https://gateway.example';
    expect(await locate(`${PREFIX}/items/1`)).to.equal(`${PREFIX}/items/1`);
    expect(await locate(`${origin}${PREFIX}/items/1`)).to.equal(`${origin}${PREFIX}/items/1`);
    expect(await locate(`${publicHost.provider.url}${PREFIX}/items/1`)).to.equal(
      `${PREFIX}/items/1`,
    );
    expect(await locate(`${origin}/items/1`)).to.equal(`${PREFIX}/items/1`);
    expect(await locate('/items/1')).to.equal(`${PREFIX}/items/1`);
    expect(await locate(`${PREFIX}/../../../metrics`)).to.equal(`${PREFIX}/metrics`);
  });
});
