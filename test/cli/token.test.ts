import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseTokenFile } from '../../core/auth/token-file.js';
import { createWorkplace } from '../support/cli/run-in.js';
import { call } from '../support/http/call.js';
import { waitUntil } from '../support/http/wait-until.js';
import { openHost } from '../support/open-host.js';
import { useEach } from '../support/use.js';

const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');
const DAY_MS = 86_400_000;

describe('modgate token', () => {
  // Each command runs in its own process.
  const read = (file: string) => readFileSync(join(place.folder, file), 'utf8');
  const modeOf = (file: string) => statSync(join(place.folder, file)).mode & 0o777;
  const create = async (file: string, ...args: string[]) => {
    const { code, stdout, stderr } = await place.run([
      'token',
      'create',
      ...args,
      '--tokens',
      file,
    ]);
    expect(code, stderr).to.equal(0);
    return stdout.trim();
  };

  const place = useEach(createWorkplace);

  for (const file of ['tokens.yaml', 'tokens.json']) {
    it(`creates ${file} with mode 0600 and without the token`, async () => {
      const token = await create(file, 'billing', '--scope', 'crm.read', '--scope', 'crm.write');
      expect(token).to.match(/^mgt_[A-Za-z0-9_-]{43}$/);
      expect(modeOf(file)).to.equal(0o600);
      expect(read(file)).not.to.include(token);
      const { expiresAt = 0, ...actor } = parseTokenFile(file, read(file)).get(sha256(token)) ?? {};
      expect(actor).to.deep.equal({
        kind: 'service',
        id: 'billing',
        scopes: new Set(['crm.read', 'crm.write']),
      });
      const days = (expiresAt - Date.now()) / DAY_MS;
      expect(days).to.be.within(89.9, 90.1);
      expect(readdirSync(place.folder)).to.deep.equal([file]);
    });
  }

  it('creates a token with roles, and lists them', async () => {
    const token = await create('tokens.yaml', 'desk', '--role', 'support', '--role', 'support');
    const actor = parseTokenFile('tokens.yaml', read('tokens.yaml')).get(sha256(token));
    expect(actor).to.deep.include({ roles: ['support'], scopes: new Set() });
    const { stdout } = await place.run(['token', 'list', '--tokens', 'tokens.yaml']);
    expect(stdout)
      .to.match(/EXPIRES +ROLES +SCOPES/)
      .and.to.match(/desk .* support/);
    const bad = await place.run(['token', 'create', 'a', '--role', 'a b', '--tokens', 't.yaml']);
    expect(bad.code).to.equal(2);
    expect(bad.stderr).to.equal(
      'modgate: --role must be a name of 1 to 128 letters, digits or ._-\n',
    );
  });

  it('prints the new token on stdout only', async () => {
    const first = await create('tokens.yaml', 'a');
    const { stdout, stderr } = await place.run(
      ['token', 'create', 'b', '--kind', 'system', '--expires', 'never', '--json'],
      { MODGATE_TOKENS: 'tokens.yaml' },
    );
    const made = JSON.parse(stdout);
    expect(made).to.include({ id: 'b', kind: 'system', sha256: sha256(made.token) });
    expect(made).not.to.have.property('expires_at');
    expect(stderr).to.include('it is not shown again').and.not.include(made.token);
    expect(stdout).not.to.include(first);
    const list = await place.run(['token', 'list', '--tokens', 'tokens.yaml']);
    expect(list.stdout).not.to.include(first).and.not.include(made.token);
  });

  it('rounds an expiry up to the next second', async () => {
    const earliest = Date.now() + 500;
    const { stdout } = await place.run(
      ['token', 'create', 'a', '--expires', '500ms', '--json', '--tokens', 'tokens.yaml'],
      {},
    );
    expect(Date.parse(JSON.parse(stdout).expires_at)).to.be.at.least(earliest);
  });

  it('prints the header line to send as an API key', async () => {
    const line = await create('tokens.yaml', 'a', '--header-key', '--token-header', 'X-Acme-Key');
    const [, token = ''] = /^x-acme-key: (mgt_\S{43})$/.exec(line) ?? [];
    expect(parseTokenFile('tokens.yaml', read('tokens.yaml')).get(sha256(token))).not.to.equal(
      undefined,
    );
    const usual = await place.run(
      ['token', 'create', 'b', '--tokens', 'tokens.yaml', '--header-key', '--json'],
      {},
    );
    expect(JSON.parse(usual.stdout)).to.include({ header: 'x-api-key', id: 'b' });
    expect(usual.stderr).to.include('start the host with --token-header x-api-key');
  });

  it('keeps the comments, the mode and the link of an existing file', async () => {
    const [file, digest] = ['real.yaml', sha256('x')];
    place.write(
      file,
      `# who may call\ntokens:\n  - id: old # since 2020\n    kind: user\n    scopes: []\n    sha256: '${digest}'\n`,
    );
    chmodSync(join(place.folder, file), 0o640);
    symlinkSync(file, join(place.folder, 'tokens.yaml'));
    await create('tokens.yaml', '1e3', '--expires', '12h');
    expect(read(file)).to.include('# who may call').and.include('# since 2020');
    expect(modeOf(file)).to.equal(0o640);
    expect(parseTokenFile(file, read(file)).size).to.equal(2);
    const { code } = await place.run(['token', 'revoke', 'old', '--tokens', 'tokens.yaml']);
    expect(code).to.equal(0);
    expect([...parseTokenFile(file, read(file)).values()].map(({ id }) => id)).to.deep.equal([
      '1e3',
    ]);
  });

  it('loses no token when several are created concurrently', async () => {
    const tokens = await Promise.all(
      Array.from({ length: 6 }, (_, index) => create('tokens.yaml', `caller-${index}`)),
    );
    const table = parseTokenFile('tokens.yaml', read('tokens.yaml'));
    expect([...table.keys()]).to.have.members(tokens.map(sha256));
  });

  it('lists ids, digests and expiry', async () => {
    const token = await create(
      'tokens.yaml',
      'billing',
      '--scope',
      'crm.read',
      '--expires',
      'never',
    );
    place.write('old.json', {
      tokens: [
        {
          id: 'gone',
          kind: 'user',
          scopes: [],
          sha256: sha256('x'),
          expires_at: '2020-01-01T00:00Z',
        },
      ],
    });
    const { stdout } = await place.run(['token', 'list', '--tokens', 'tokens.yaml']);
    expect(stdout).to.match(
      new RegExp(`billing +service +${sha256(token).slice(0, 12)} +never +- +crm\\.read`),
    );
    const old = await place.run(['token', 'list', '--tokens', 'old.json', '--json']);
    expect(JSON.parse(old.stdout).tokens[0]).to.include({ id: 'gone', expired: true });
    place.write('empty.json', { tokens: [] });
    const empty = await place.run(['token', 'list', '--tokens', 'empty.json']);
    expect(empty).to.deep.equal({ code: 0, stdout: 'no tokens\n', stderr: '' });
  });

  for (const args of [['list'], ['revoke', 'billing']]) {
    it(`exits with 2 when the file is missing: ${args[0]}`, async () => {
      const missing = await place.run(['token', ...args, '--tokens', 'none.yaml']);
      expect(missing).to.include({ code: 2, stdout: '' });
      expect(missing.stderr).to.match(/^modgate: \S*none\.yaml does not exist\n$/);
    });
  }

  it('revokes one token of an id by its digest, or all of them', async () => {
    const [first, , third] = [
      await create('tokens.json', 'billing'),
      await create('tokens.json', 'billing'),
      await create('tokens.json', 'other'),
    ];
    const revoke = (...args: string[]) =>
      place.run(['token', 'revoke', ...args, '--tokens', 'tokens.json']);
    const unclear = await revoke('billing');
    expect(unclear.code).to.equal(2);
    expect(unclear.stderr).to.match(/2 tokens match/);
    expect((await revoke(sha256(first).slice(0, 12))).code).to.equal(0);
    expect(read('tokens.json')).not.to.include(sha256(first));
    await create('tokens.json', 'billing');
    const all = await revoke('billing', '--all', '--json');
    expect(JSON.parse(all.stdout).revoked).to.have.length(2);
    expect([...parseTokenFile('tokens.json', read('tokens.json')).keys()]).to.deep.equal([
      sha256(third ?? ''),
    ]);
    const unknown = await revoke('unknown');
    expect(unknown.code).to.equal(1);
  });

  for (const [title, args, message] of [
    ['no tokens file', ['create', 'a'], /--tokens FILE/],
    ['an invalid id', ['create', 'a b', '--tokens', 't.yaml'], /the ID of a token must be/],
    [
      'a scope with a comma',
      ['create', 'a', '--scope', 'canary,b', '--tokens', 't.yaml'],
      /--scope/,
    ],
    ['an unknown kind', ['create', 'a', '--kind', 'canary', '--tokens', 't.yaml'], /--kind/],
    [
      'an expiry in the past',
      ['create', 'a', '--expires', '2020-01-01T00:00Z', '--tokens', 't.yaml'],
      /--expires/,
    ],
    ['an expiry of now', ['create', 'a', '--expires', '0s', '--tokens', 't.yaml'], /--expires/],
    [
      'an expiry after the year 9999',
      ['create', 'a', '--expires', '9999-12-31T23:59:59-01:00', '--tokens', 't.yaml'],
      /--expires/,
    ],
    [
      'an invalid expiry',
      ['create', 'a', '--expires', 'canary', '--tokens', 't.yaml'],
      /--expires/,
    ],
    ['an invalid file', ['create', 'a', '--tokens', 'bad.yaml'], /bad\.yaml:1:/],
    ['a folder', ['create', 'a', '--tokens', '.'], /not a regular file/],
    ['a missing folder', ['create', 'a', '--tokens', 'no/t.yaml'], /cannot be written \(ENOENT\)/],
  ] as [string, string[], RegExp][]) {
    it(`rejects ${title} and writes nothing`, async () => {
      place.write('bad.yaml', 'tokens: [{id: x}]\n');
      const { code, stdout, stderr } = await place.run(['token', ...args]);
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr).to.match(message).and.not.include('canary');
      expect(readdirSync(place.folder)).to.deep.equal(['bad.yaml']);
    });
  }

  it('grants and revokes access to a running host', async () => {
    place.write('modules.d/.keep', '');
    const file = join(place.folder, 'tokens.yaml');
    const first = await create(file, 'first', '--scope', 'modgate.modules.read');
    const host = await openHost([
      ...['serve', '--modules', join(place.folder, 'modules.d'), '--tokens', file, '--port', '0'],
      ...['--state', join(place.folder, 'state')],
    ]);
    try {
      const status = async (as: string) => (await call(host, { target: '/modules', as })).status;
      expect(await status(first)).to.equal(200);
      const second = await create(file, 'second', '--scope', 'modgate.modules.read');
      await waitUntil('the new token', async () => (await status(second)) === 200);
      expect((await place.run(['token', 'revoke', 'first', '--tokens', file])).code).to.equal(0);
      await waitUntil('the end of the old token', async () => (await status(first)) === 401);
      for (const token of [first, second]) expect(host.output()).not.to.include(token);
    } finally {
      await host.stop();
    }
    expect(existsSync(`${file}.lock`)).to.equal(false);
  });
});
