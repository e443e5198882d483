import { expect } from 'chai';
import { createWorkplace } from '../../support/cli/run-in.js';
import { buildManifest } from '../../support/http/modules.js';

const ROUTE = { method: 'GET', path: '/items', capability: 'crm.read' };
const MANIFEST = { ...buildManifest('crm', [ROUTE]), config: { delivery_path: '/config' } };
const PUBLIC = {
  ...buildManifest('crm', [ROUTE]),
  http_routes: [{ ...ROUTE, access: 'public' }],
};

describe('modgate check of a module that exchanges tokens', () => {
  const findWarnings = async (exchange: object, config: object, others: object) => {
    const place = createWorkplace();
    place.write('modules.d/crm.json', {
      apiVersion: 'modgate/v1',
      module: 'crm',
      provider: {
        kind: 'http',
        config: {
          endpoints: ['http://127.0.0.1:9'],
          auth: {
            exchange: {
              issuer: 'https://issuer.example',
              client_id: 'me',
              client_secret: 'env:SECRET',
              ...exchange,
            },
          },
          ...config,
        },
      },
      ...others,
    });

    const { code, stdout } = await place.run(['check', '--allow-missing-secrets', '--json']);
    expect(code).to.equal(0);
    const { findings } = JSON.parse(stdout) as { findings: { message: string; rule: string }[] };
    return findings
      .filter(({ rule }) => rule === 'exchange-without-caller')
      .map(({ message }) => message.replace("'provider.config.auth.exchange': ", ''));
  };

  it('warns of requests of the host itself, which carry no credentials', async () => {
    const health = { health: { path: '/health' } };
    const without = 'is requested without credentials, by the host itself';
    expect(await findWarnings({}, health, { manifest: { from: 'provider' } })).to.deep.equal([
      `'manifest: { from: provider }' ${without}`,
      `'health' ${without}`,
    ]);
    expect(await findWarnings({}, {}, { manifest: { inline: MANIFEST } })).to.deep.equal([
      `'delivery_path' ${without}`,
    ]);
    const host = { host: {} };
    expect(await findWarnings(host, health, { manifest: { inline: MANIFEST } })).to.deep.equal([]);
    expect(await findWarnings({}, { health: {} }, { manifest: { inline: PUBLIC } })).to.deep.equal(
      [],
    );
  });

  it('warns of public routes, whose callers have no token', async () => {
    const others = { manifest: { inline: PUBLIC }, public: true };
    expect(await findWarnings({}, {}, others)).to.deep.equal([
      'public routes are 403 without a token to exchange',
    ]);
  });
});
