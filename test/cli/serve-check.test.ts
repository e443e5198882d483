import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createWorkplace, type Workplace } from '../support/cli/run-in.js';
import { describeModule } from '../support/http/modules.js';

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

  afterEach(() => place.remove());

  const check = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await place.run(['serve', '--check', '--json', ...args]);
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

  it('reports everything at once', async () => {
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

  it('reports missing and refused plugins', async () => {
    place.write('plugins/bad/plugin.json', '{');
    const { errors, warnings } = await check(...DEVELOPMENT, '--plugins', 'plugins');
    expect(errors).to.deep.equal([]);
    expect(warnings.join()).to.include('plugin rejected').and.include('bad');
    const missing = await check(...DEVELOPMENT, '--plugins', 'absent');
    expect(missing.errors.join()).to.include('absent');
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
    expect(warnings.join()).to.include('issuer https://issuer.example cannot be reached');
  });

  it('rejects its options without --check', async () => {
    const { code, stderr } = await place.run(['serve', '--connect']);
    expect(stderr).to.equal('modgate: --connect cannot be used without --check\n');
    expect(code).to.equal(2);
  });
});
