import { existsSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { createWorkplace, type Workplace } from '../support/cli/run-in.js';
import { answerError, answerToken, startExchangeServer } from '../support/exchange-server.js';
import { describeModule } from '../support/http/modules.js';
import { CONTRACT_URL, SUPERSTRUCT_URL, writePlugin } from '../support/isolation/write-plugin.js';

interface Finding {
  readonly file: string;
  readonly severity: string;
  readonly rule: string;
  readonly message: string;
}

const ENDPOINT = 'http://127.0.0.1:9';
const DEVELOPMENT = ['--env', 'development'];

describe('modgate serve --check', () => {
  let place: Workplace;

  beforeEach(() => {
    place = createWorkplace();
    mkdirSync(join(place.folder, 'modules.d'));
  });

  const check = (...args: readonly string[]) => checkWith({}, ...args);
  const checkWith = async (env: Readonly<Record<string, string>>, ...args: readonly string[]) => {
    const { code, stdout, stderr } = await place.run(['serve', '--check', '--json', ...args], env);
    expect(stderr).to.equal('');
    const { findings } = JSON.parse(stdout) as { readonly findings: readonly Finding[] };
    const errors = findings.filter(({ severity }) => severity === 'error');
    const warnings = findings.filter(({ severity }) => severity === 'warning');
    expect(code).to.equal(errors.length === 0 ? 0 : 1);
    const list = (all: readonly Finding[]) => all.map(({ message }) => message);
    return { errors: list(errors), warnings: list(warnings) };
  };

  it('finds nothing in a host that would start, and writes nothing', async () => {
    place.write('modules.d/crm.json', describeModule('crm', ENDPOINT, []));
    const { errors } = await check(...DEVELOPMENT, '--state', 'state');
    expect(errors).to.deep.equal([]);
    expect(existsSync(join(place.folder, 'state'))).to.equal(false);
    expect(existsSync(join(place.folder, 'modules.d/.status'))).to.equal(false);
  });

  it('reports all errors together', async () => {
    place.write('tokens.json', { tokens: [{ id: 'a' }] });
    place.write(
      'modules.d/crm.json',
      describeModule('crm', ENDPOINT, [], { limits: { queue: -1 } }),
    );
    place.write(
      'modules.d/shop.json',
      describeModule('shop', ENDPOINT, [], { mount: [{ path: '/docs' }] }),
    );
    place.write('state/identity/keys.json', '{');
    place.write('cert.pem', 'no certificate');
    const { errors } = await check(
      ...['--tokens', 'tokens.json', '--port', 'many', '--state', 'state'],
      ...['--tls-cert', 'cert.pem', '--tls-key', 'key.pem', '--store', 'mysql://a'],
    );
    for (const expected of [
      /^--port must be/,
      /sha256/,
      /cert\.pem|key\.pem|does not exist|certificate/,
      /--store/,
      /keys\.json cannot be used/,
      /'limits\.queue' must be/,
      /begins with '\/docs', which belongs to the host/,
    ]) {
      expect(
        errors.some((message) => expected.test(message)),
        `${expected}: ${errors}`,
      ).to.equal(true);
    }
  });

  it('reports broken issuers and contradictory settings', async () => {
    place.write('issuers.json', { issuers: [{ issuer: 'https://issuer.example' }] });
    const timeouts = ['--head-timeout-ms', '20000', '--request-timeout-ms', '10000'];
    const { errors } = await check('--issuers', 'issuers.json', ...timeouts);
    expect(errors.join()).to.include('jwks').and.include('--head-timeout-ms must be at most');
    const none = await check();
    expect(none.errors.join()).to.include('no authenticator is configured');
  });

  it('reports every bad key of the configuration file, and what each file has', async () => {
    place.write(
      'modgate.yaml',
      [
        ...['port: 70000', 'log-level: loud', 'nope: 3', 'tokens: tokens.json'],
        ...['issuers: issuers.json', 'roles: roles.json', 'tls-cert: cert.pem'],
        ...['tls-key: key.pem', 'tls-client-ca: ca.pem', 'tls-clients: clients.json'],
        ...['plugins: [./absent, ./missing]', 'head-timeout-ms: 20000'],
        ...['request-timeout-ms: 10000', 'actor-budget: 100000000', 'memory-budget: 70000'],
        'authenticators: [tokens, issuers, acme-ldap]',
        'surfaces: { console: { idle: 1 } }',
      ].join('\n'),
    );
    place.write('tokens.json', { tokens: [{ id: 'a' }] });
    place.write('issuers.json', { issuers: [{ issuer: 'https://issuer.example' }] });
    place.write('roles.json', { roles: { 'a b': {} } });
    place.write('clients.json', { clients: [{ id: 'a' }] });
    place.write('cert.pem', 'no certificate');
    place.write('key.pem', 'no key');
    place.write('modules.d/crm.json', { apiVersion: 'modgate/v1' });
    const { errors } = await check('--max-headers', 'many');
    for (const expected of [
      /^port in modgate\.yaml:1:1 must be/,
      /^log-level in modgate\.yaml:2:1 must be/,
      /^modgate\.yaml:3:1 unknown key 'nope'/,
      /^--max-headers must be/,
      /absent does not exist/,
      /missing does not exist/,
      /--head-timeout-ms must be at most/,
      /--actor-budget must be at most/,
      /missing key 'sha256' in 'tokens/,
      /missing key 'audience' in 'issuers/,
      /roles/,
      /missing key 'kind' in 'clients/,
      /^does not exist$/,
      /authenticator 'acme-ldap' cannot be used/,
      /surface 'console'.*idle/,
      /missing key 'module'/,
    ]) {
      const matching = errors.filter((message) => expected.test(message));
      expect(matching.length, `${expected}: ${errors.join('\n')}`).to.be.greaterThan(0);
      expect(new Set(matching).size).to.equal(matching.length);
    }
  });

  it('reports every file of issuer keys that cannot be used', async () => {
    const issuer = (name: string) => ({
      ...{ issuer: `https://${name}.example`, audience: 'a', algorithms: ['RS256'] },
      ...{ jwks: { file: `${name}.json` }, actor: { kind: 'service' } },
    });
    place.write('issuers.json', { issuers: [issuer('one'), issuer('two')] });
    const { errors } = await check('--issuers', 'issuers.json');
    expect(errors).to.have.lengthOf(2);
  });

  it('rejects --token-basic that no authenticator takes', async () => {
    const { errors } = await check('--tls-clients', 'clients.json', '--token-basic');
    expect(errors.join()).to.include('--token-basic requires an authenticator');
  });

  it('rejects --token-basic beside an authenticator that takes Basic', async () => {
    const entry = `import { defineAuthenticator } from ${JSON.stringify(CONTRACT_URL)};
      import { any } from ${JSON.stringify(SUPERSTRUCT_URL)};
      const name = 'acme-basic';
      const open = () => ({ name, challenges: ['Basic realm="acme"'], authenticate: () => null });
      export default { authenticators: [defineAuthenticator({ name, config: any(), open })] };`;
    const manifest = { kinds: undefined, authenticators: ['acme-basic'] };
    writePlugin(join(place.folder, 'plugins'), { name: 'acme', manifest, entry });
    place.write('tokens.json', { tokens: [] });
    place.write('modgate.json', {
      plugins: './plugins',
      tokens: 'tokens.json',
      authenticators: ['tokens', 'acme-basic'],
    });
    const { errors } = await check('--config', 'modgate.json', '--token-basic');
    expect(errors.join()).to.include('--token-basic takes authorization: Basic');
    expect((await check('--config', 'modgate.json')).errors).to.deep.equal([]);
  });

  it('reports missing and rejected plugins', async () => {
    place.write('plugins/bad/plugin.json', '{');
    const { errors, warnings } = await check(...DEVELOPMENT, '--plugins', 'plugins');
    expect(errors).to.deep.equal([]);
    expect(warnings.join()).to.include('plugin rejected').and.include('bad');
    const missing = await check(...DEVELOPMENT, '--plugins', 'absent');
    expect(missing.errors.join()).to.include('absent');
  });

  it('warns of credentials that token endpoints do not give, with --connect alone', async () => {
    const server = await startExchangeServer();
    const client = { client_id: 'me', client_secret: 'file:../secret' };
    const oauth2 = (token_url: string) => ({ oauth2: { token_url, ...client } });
    const exchange = (overrides: object = {}) => ({
      exchange: { issuer: server.url, token_url: server.tokenUrl, ...client, ...overrides },
    });
    const write = (module: string, auth: object) =>
      place.write(
        `modules.d/${module}.json`,
        describeModule(module, ENDPOINT, [], {
          provider: { kind: 'http', config: { endpoints: [ENDPOINT], auth } },
        }),
      );
    try {
      place.write('secret', 'canary');
      place.write('issuers.json', {
        issuers: [
          {
            issuer: server.url,
            audience: 'a',
            algorithms: ['RS256'],
            jwks: { url: server.url },
            token_endpoints: [server.tokenUrl],
            actor: { kind: 'user' },
          },
        ],
      });
      write('down', oauth2('http://127.0.0.1:1/token'));
      write('good', oauth2(server.tokenUrl));
      write('swap', exchange());
      write('strange', exchange({ issuer: 'https://strange.example' }));
      write('elsewhere', exchange({ token_url: 'https://elsewhere.example/token' }));
      server.answer((response, request) => {
        const isExchange = request.form.has('subject_token');
        (isExchange ? answerError(400, 'invalid_request') : answerToken({ access_token: 't' }))(
          response,
          request,
        );
      });
      const args = ['--issuers', 'issuers.json'];
      const offline = await check(...args);
      const rejected = "'provider.config.auth.exchange' cannot be used:";
      expect(offline.errors).to.have.members([
        `${rejected} its issuer is not in the issuers file: name the issuer of one of its entries`,
        `${rejected} its token endpoint must be one of the issuer's token_endpoints in the issuers file`,
      ]);
      expect(server.requests).to.deep.equal([]);
      const { warnings } = await check(...args, '--connect');
      expect(warnings.filter((line) => line.startsWith('credentials'))).to.deep.equal([
        "credentials of module 'down': token endpoint: fetch does not connect to this port: use another",
      ]);
      const subjects = server.requests.map(({ form }) => form.get('subject_token'));
      expect(subjects).to.deep.equal([null, 'modgate-check']);
    } finally {
      await server.close();
    }
  });

  it('warns of issuers that do not answer, with --connect alone', async () => {
    const jwks = { url: 'http://127.0.0.1:9/jwks' };
    const issuer = { issuer: 'https://issuer.example', audience: 'a', algorithms: ['RS256'], jwks };
    place.write('issuers.json', {
      issuers: [{ ...issuer, actor: { kind: 'service' } }],
    });
    const args = ['--issuers', 'issuers.json'];
    const offline = await check(...args);
    expect(offline.errors.join()).to.equal('');
    expect(offline.warnings.join()).to.not.include('cannot be reached');
    const { errors, warnings } = await check(...args, '--connect');
    expect(errors).to.deep.equal([]);
    expect(warnings.join()).to.include(
      'issuer https://issuer.example cannot be reached at http://127.0.0.1:9 (ECONNREFUSED)',
    );
  });

  it('asks introspection endpoints, with the credentials of the client', async () => {
    const requests: string[] = [];
    const server = createServer((request, response) => {
      requests.push(`${request.method} ${request.headers.authorization}`);
      response.statusCode = request.url === '/closed' ? 401 : 200;
      response.end(JSON.stringify({ active: false }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const entry = (name: string, url: string) => ({
      ...{ name, url, client_id: 'gate', client_secret: 'env:INTROSPECTION_SECRET' },
      actor: { kind: 'service' },
    });
    place.write('issuers.json', {
      introspection: [
        entry('works', `http://127.0.0.1:${port}/open`),
        entry('closed', `http://127.0.0.1:${port}/closed`),
        entry('down', 'http://127.0.0.1:9/'),
      ],
    });
    const env = { INTROSPECTION_SECRET: 'canary' };
    try {
      const offline = await checkWith(env, '--issuers', 'issuers.json');
      expect({ ...offline, asked: requests }).to.deep.equal({
        errors: [],
        warnings: [],
        asked: [],
      });
      const args = ['--issuers', 'issuers.json', '--connect'];
      const { errors, warnings } = await checkWith(env, ...args);
      expect(errors).to.deep.equal([]);
      expect(warnings).to.have.lengthOf(2);
      expect(warnings[0]).to.equal("the issuer 'closed' responded with 401");
      expect(warnings[1]).to.equal(
        "the issuer 'down' cannot be reached at http://127.0.0.1:9 (ECONNREFUSED)",
      );
      const basic = Buffer.from('gate:canary').toString('base64');
      expect(requests).to.deep.equal([`POST Basic ${basic}`, `POST Basic ${basic}`]);
    } finally {
      server.close();
    }
  });

  it('rejects its options without --check', async () => {
    const { code, stderr } = await place.run(['serve', '--connect']);
    expect(stderr).to.equal('modgate: --connect cannot be used without --check\n');
    expect(code).to.equal(2);
  });
});
