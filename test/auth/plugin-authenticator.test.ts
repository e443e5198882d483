import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { headerValue } from '../../core/selftest/raw-http.js';
import { rejectStart } from '../support/cli/reject-start.js';
import { call, parseJson } from '../support/http/call.js';
import { expectProblem } from '../support/http/expect-problem.js';
import { waitUntil } from '../support/http/wait-until.js';
import {
  adapterSource,
  CONTRACT_URL,
  describeKind,
  SUPERSTRUCT_URL,
  writePlugin,
} from '../support/isolation/write-plugin.js';
import { startHostProcess } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';
import { use } from '../support/use.js';

const TOKEN = 'the-token-of-billing';
const PASSWORD = 'ldap-password-never-printed';
const TOKENS = {
  tokens: [
    {
      id: 'billing',
      kind: 'service',
      scopes: ['any.use'],
      sha256: createHash('sha256').update(TOKEN).digest('hex'),
    },
  ],
};

/** The reaction of the authenticator to each token, as statements. */
const ENTRY = `import { defineAuthenticator, secretReference } from ${JSON.stringify(CONTRACT_URL)};
import { object, optional, string } from ${JSON.stringify(SUPERSTRUCT_URL)};
const actor = (more = {}) => ({ kind: 'service', id: 'ann', scopes: new Set(['any.use']), ...more });
const ANSWERS = {
  good: () => actor(),
  throw: () => { throw new Error('the directory rejected ${PASSWORD}'); },
  reject: async () => { throw new Error('the directory is away'); },
  hang: () => new Promise(() => {}),
  undefined: () => undefined,
  kind: () => actor({ kind: 'root' }),
  id: () => actor({ id: 'ann ' }),
  scopes: () => actor({ scopes: ['any.use'] }),
  scope: () => actor({ scopes: new Set(['any,use']) }),
  roles: () => actor({ roles: 'support' }),
  role: () => actor({ roles: [7] }),
  support: () => actor({ scopes: new Set(), roles: ['support', 'unknown'] }),
  stranger: () => actor({ scopes: new Set(), roles: ['unknown'] }),
  // The contract has no such member: it must not lift or set a bound.
  bounded: () => actor({ scopes: new Set(), roles: ['support'], allowedScopes: [] }),
  uncaught: () => { setTimeout(() => { throw new Error('uncaught'); }, 1); return null; },
};
const one = (name, open) => defineAuthenticator({
  name,
  config: object({ realm: optional(string()), password: optional(secretReference()) }),
  open,
});
export default {
  adapters: [],
  authenticators: [
    one('acme-ldap', ({ realm, password }, context) => {
      if (context.secret(password).reveal() !== '${PASSWORD}') throw new Error('no password');
      context.scope.defer(() => context.log.info({ realm }, 'acme-ldap closed'));
      return {
        name: 'acme-ldap',
        authenticate: ({ token }) => ANSWERS[token]?.() ?? null,
      };
    }),
    one('throwing', ({ password }, context) => {
      throw new Error('no license for ' + context.secret(password).reveal());
    }),
    one('hanging', () => new Promise(() => {})),
    one('empty', () => ({})),
  ],
};`.replace('ANSWERS[token]?.() ?? null', 'token in ANSWERS ? ANSWERS[token]() : null');

describe('authenticators of plugins', () => {
  const folder = createFolder();

  before(() => {
    const plugins = join(folder, 'plugins');
    const authenticators = ['acme-ldap', 'throwing', 'hanging', 'empty'];
    const manifest = { kinds: undefined, authenticators };
    writePlugin(plugins, { name: 'acme', manifest, entry: ENTRY });
    writePlugin(plugins, { name: 'good', entry: adapterSource('good') });
    writePlugin(plugins, {
      name: 'unbranded',
      manifest: { kinds: undefined, authenticators: ['unbranded'] },
      entry: 'export default { authenticators: [{ name: "unbranded", contract: 1 }] };',
    });
    writeFileSync(join(folder, 'tokens.json'), JSON.stringify(TOKENS));
    const roles = { support: { scopes: ['any.use'] } };
    writeFileSync(join(folder, 'roles.json'), JSON.stringify({ roles }));
  });

  const writeConfig = (name: string, ...lines: string[]) => {
    const path = join(folder, name);
    writeFileSync(path, ['plugins: ./plugins', ...lines, ''].join('\n'));
    return path;
  };

  describe('in the chain of a host', () => {
    const host = use(() => {
      const config = writeConfig(
        'modgate.yaml',
        'tokens: tokens.json',
        'roles: roles.json',
        'authenticators:',
        '  - tokens',
        '  - name: acme-ldap',
        '    config: { realm: staff, password: env:LDAP_PASSWORD }',
      );
      return startHostProcess({
        dev: false,
        files: { 'good.json': describeKind('good', 'good') },
        args: ['--config', config],
        env: { LDAP_PASSWORD: PASSWORD },
      });
    });

    after(async () => {
      expect(host.output()).to.not.include(PASSWORD);
      const closed = host.logs().find(({ msg }) => msg === 'acme-ldap closed');
      expect(closed).to.include({ authenticator: 'acme-ldap', realm: 'staff' });
    });

    const ask = (token: string) =>
      call(host, { target: '/modules/good/http/x', as: token, deadlineMs: 15_000 });

    it('accept the credentials of the plugin and of the host', async () => {
      expect((await ask('good')).status).to.equal(200);
      expect((await ask(TOKEN)).status).to.equal(200);
    });

    it('responds with 401 when no authenticator accepts the credentials', async () => {
      expectProblem(await ask('unknown'), 401);
    });

    it('adds the scopes of the roles that the plugin returns', async () => {
      expect((await ask('support')).status).to.equal(200);
      expect((await ask('bounded')).status).to.equal(200);
      expectProblem(await ask('stranger'), 403);
    });

    for (const token of [
      ...['throw', 'reject', 'undefined', 'kind', 'id', 'scopes', 'scope', 'roles', 'role', 'hang'],
    ]) {
      it(`responds with 503 when the plugin fails: ${token}`, async () => {
        const response = await ask(token);
        expectProblem(response, 503);
        expect(headerValue(response.headers, 'retry-after')).to.equal('1');
        expect(parseJson(response)['detail']).to.equal('the credentials cannot be verified now');
        expect((await ask(TOKEN)).status).to.equal(200);
      });
    }

    it('logs the reason with the name of the authenticator', async () => {
      const find = () => host.logs().find(({ msg }) => msg === 'authenticator failed');
      await waitUntil('the line', () => find() !== undefined);
      expect(find()?.['authenticator']).to.equal('acme-ldap');
      expect(find()).to.have.property('err');
    });

    it('survives an uncaught error of the plugin', async () => {
      expectProblem(await ask('uncaught'), 401);
      expect((await ask('good')).status).to.equal(200);
      const left = () =>
        host.logs().some(({ msg }) => msg === 'uncaught error in authenticator code');
      await waitUntil('the log line', async () => {
        await ask('good');
        return left();
      });
    });
  });

  const LDAP = '[{ name: acme-ldap, config: { password: env:LDAP_PASSWORD } }]';
  const REJECTED: Readonly<Record<string, [lines: readonly string[], message: RegExp]>> = {
    'an unknown name': [
      ['authenticators: [acme-ldab]'],
      /authenticator 'acme-ldab' cannot be used: no plugin has that authenticator \(did you mean 'acme-ldap'\?\)/,
    ],
    'an unknown key in its config': [
      ['authenticators: [{ name: acme-ldap, config: { relm: a } }]'],
      /authenticator 'acme-ldap': unknown key 'relm' in 'config' \(did you mean 'realm'\?\)/,
    ],
    'a secret that is not there': [
      ['authenticators: [{ name: acme-ldap, config: { password: env:NO_SUCH_VARIABLE } }]'],
      /authenticator 'acme-ldap'.*NO_SUCH_VARIABLE/,
    ],
    'one that does not open': [
      ['authenticators: [{ name: throwing, config: { password: env:LDAP_PASSWORD } }]'],
      /authenticator 'throwing' cannot be used: no license for \[redacted\]/,
    ],
    'one that opens for ever': [
      ['authenticators: [hanging]'],
      /authenticator 'hanging' cannot be used: it did not open within 5000 ms/,
    ],
    'one that opens nothing': [
      ['authenticators: [empty]'],
      /authenticator 'empty' cannot be used: 'open' must return an object with a function/,
    ],
    'one without a brand': [
      ['authenticators: [unbranded]'],
      /exports an authenticator that is not branded/,
    ],
    'dev tokens in production': [['authenticators: [dev]'], /dev tokens require --env development/],
    'tokens without a file': [['authenticators: [tokens]'], /it requires a tokens file/],
    'a tokens file that no link of the chain reads': [
      ['tokens: tokens.json', `authenticators: ${LDAP}`],
      /'tokens' is configured, but --authenticators does not name it/,
    ],
    'a name twice': [
      ['authenticators: [tokens, tokens]', 'tokens: tokens.json'],
      /authenticators in .*:2:1 must be distinct names of authenticators/,
    ],
    'an empty chain': [['authenticators: []'], /must be distinct names of authenticators/],
    'an unknown key of a link': [
      ['authenticators: [{ name: acme-ldap, confg: {} }]'],
      /must be distinct names of authenticators/,
    ],
  };
  for (const [title, [lines, message]] of Object.entries(REJECTED)) {
    it(`prevents a start with ${title}`, async () => {
      const config = writeConfig('rejected.yaml', ...lines);
      const args = ['serve', '--config', config, '--modules', folder, '--port', '0'];
      const { code, stderr } = await rejectStart([...args, '--state', join(folder, 'state')], {
        LDAP_PASSWORD: PASSWORD,
      });
      expect(code).to.equal(2);
      expect(stderr).to.match(message).and.to.not.include(PASSWORD);
    });
  }
});
