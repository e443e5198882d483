import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';
import { createWorkplace } from '../support/cli/run-in.js';
import { waitUntil } from '../support/http/wait-until.js';
import { openHost } from '../support/open-host.js';
import { startHost } from '../support/start-host.js';
import { useEach } from '../support/use.js';

describe('modgate new module', () => {
  const place = useEach(createWorkplace);

  const list = (folder = 'modules.d') =>
    readdirSync(join(place.folder, folder), { recursive: true }).map(String).sort();

  it('writes a descriptor, a manifest and a local module, and prints their paths', async () => {
    const { code, stdout, stderr } = await place.run(['new', 'module', 'acme/crm']);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.equal(
      [
        'created modules.d/acme-crm/manifest.yaml\n',
        'created modules.d/acme-crm/module.mjs\n',
        'created modules.d/acme-crm.yaml\n',
      ].join(''),
    );
    expect(list()).to.deep.equal([
      'acme-crm',
      'acme-crm.yaml',
      'acme-crm/manifest.yaml',
      'acme-crm/module.mjs',
    ]);
  });

  it('writes no code for a module of kind http', async () => {
    const args = ['new', 'module', 'crm', '--kind', 'http', '--dir', 'deep/er', '--json'];
    const { code, stdout } = await place.run(args);
    expect(code).to.equal(0);
    const created = ['deep/er/crm/manifest.yaml', 'deep/er/crm.yaml'];
    expect(JSON.parse(stdout)).to.deep.equal({ created });
    expect(list('deep/er')).to.deep.equal(['crm', 'crm.yaml', 'crm/manifest.yaml']);
  });

  const ODD_NAMES = [
    'crm',
    'acme/crm',
    '1.0',
    '0x1f',
    'true',
    'null',
    '1e5',
    '1/2',
    'a.manifest',
    `${'a'.repeat(63)}/${'b'.repeat(63)}`,
  ];
  it('writes files that pass check without warnings, for every name', async () => {
    for (const [index, name] of ODD_NAMES.entries()) {
      const kind = index % 2 === 0 ? 'local' : 'http';
      const made = await place.run(['new', 'module', name, '--kind', kind]);
      expect(made.code, made.stderr).to.equal(0);
    }
    const { code, stdout } = await place.run(['check', '--json']);
    const report = JSON.parse(stdout) as {
      findings: object[];
      ignored: object[];
      files: { module: string }[];
    };
    const { findings, ignored } = report;
    expect({ code, findings, ignored }).to.deep.equal({ code: 0, findings: [], ignored: [] });
    expect(report.files.map(({ module }) => module).sort()).to.deep.equal(ODD_NAMES.toSorted());
  });

  it('names the schemas of the installed package', async () => {
    const modgate = join(place.folder, 'node_modules/modgate');
    mkdirSync(modgate, { recursive: true });
    // The package has the files of `dist` in the folder of its exports.
    const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));
    const [folder = ''] = exports['./schemas/*'].split('/').slice(1);
    symlinkSync(resolve('dist'), join(modgate, folder));
    await place.run(['new', 'module', 'crm', '--dir', 'deep/er']);
    for (const [file, name] of [
      ['deep/er/crm.yaml', 'descriptor'],
      ['deep/er/crm/manifest.yaml', 'manifest'],
    ] as const) {
      const [first = ''] = readFileSync(join(place.folder, file), 'utf8').split('\n');
      const [, path = ''] = /^# yaml-language-server: \$schema=(\S+)$/.exec(first) ?? [];
      const schema = readFileSync(join(place.folder, dirname(file), path), 'utf8');
      expect(JSON.parse(schema)).to.include({ title: `modgate ${name}` });
    }
    const { code, stdout } = await place.run(['check', 'deep/er', '--json']);
    expect({ code, findings: JSON.parse(stdout).findings }).to.deep.equal({
      code: 0,
      findings: [],
    });
  });

  it('names no schema where the package is not installed', async () => {
    await place.run(['new', 'module', 'crm']);
    for (const file of ['modules.d/crm.yaml', 'modules.d/crm/manifest.yaml']) {
      expect(readFileSync(join(place.folder, file), 'utf8')).not.to.include('$schema');
    }
  });

  it('writes a local module that serves without changes', async () => {
    await place.run(['new', 'module', 'acme/crm']);
    const args = [
      'serve',
      '--env',
      'development',
      '--port',
      '0',
      '--state',
      join(place.folder, 's'),
    ];
    const host = await openHost([...args, '--modules', join(place.folder, 'modules.d')]);
    const response = await fetch(`${host.url}/modules/acme%2Fcrm/http/hello/ann`, {
      headers: { authorization: 'Bearer dev-service:me:crm.read' },
    });
    const { data } = (await response.json()) as { data: unknown };
    await host.stop();
    expect(data).to.deep.equal({ hello: 'ann' });
  });

  it('writes into the folder of a running host, which serves the module and ignores no file', async () => {
    const host = await startHost();
    const made = await place.run([
      'new',
      'module',
      'late',
      '--dir',
      join(host.directory, 'modules.d'),
    ]);
    const headers = { authorization: 'Bearer dev-service:me:late.read' };
    const isServed = async () =>
      (await fetch(`${host.url}/modules/late/http/hello/you`, { headers })).status === 200;
    const listIgnored = async () => {
      const ops = { authorization: 'Bearer dev-system:ops' };
      const response = await fetch(`${host.url}/modules`, { headers: ops });
      const { ignored } = (await response.json()) as { ignored: { file: string }[] };
      return ignored.map(({ file }) => file).filter((file) => file !== '.status');
    };
    try {
      await waitUntil('the module to be served', isServed);
      expect(await listIgnored()).to.deep.equal([]);
    } finally {
      await host.stop();
    }
    expect(made.code).to.equal(0);
  });

  describe('with wrong arguments', () => {
    async function rejectionOf(...args: string[]): Promise<string> {
      const before = existsSync(join(place.folder, 'modules.d')) ? list() : null;
      const { code, stdout, stderr } = await place.run(['new', ...args]);
      expect({ code, stdout }, stderr).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr).to.match(/^modgate: [^\n]+\n$/);
      expect(existsSync(join(place.folder, 'modules.d')) ? list() : null).to.deep.equal(before);
      return stderr.slice('modgate: '.length, -1);
    }

    const NOTHING = 'already exists: nothing was written';

    it('overwrites no file', async () => {
      const file = place.write('modules.d/crm.yaml', 'mine');
      expect(await rejectionOf('module', 'crm')).to.equal(`modules.d/crm.yaml ${NOTHING}`);
      expect(readFileSync(file, 'utf8')).to.equal('mine');
    });

    it('writes into no existing folder, even an empty one', async () => {
      mkdirSync(join(place.folder, 'modules.d/crm'), { recursive: true });
      expect(await rejectionOf('module', 'crm')).to.equal(`modules.d/crm ${NOTHING}`);
    });

    it('follows no link', async () => {
      mkdirSync(join(place.folder, 'modules.d'));
      symlinkSync('../elsewhere.yaml', join(place.folder, 'modules.d/crm.yaml'));
      expect(await rejectionOf('module', 'crm')).to.equal(`modules.d/crm.yaml ${NOTHING}`);
      expect(existsSync(join(place.folder, 'elsewhere.yaml'))).to.equal(false);
    });

    it('rejects a name that is already configured, in any file', async () => {
      place.write('modules.d/other.yaml', 'module: crm\nprovider: { kind: http }\n');
      expect(await rejectionOf('module', 'crm')).to.equal(
        "module 'crm' is already configured by modules.d/other.yaml",
      );
    });

    it('rejects a folder that can never be created', async function () {
      if (process.platform !== 'linux') return this.skip();
      const { code, stderr } = await place.run(['new', 'module', 'crm', '--dir', '/proc/a/b']);
      expect(code).to.equal(2);
      expect(stderr).to.match(
        /^modgate: \/proc\/a\/b\/crm\/manifest.yaml .*: nothing was written\n$/,
      );
    });

    it('rejects a folder that is a file', async () => {
      place.write('modules.d', 'a file');
      const { code, stderr } = await place.run(['new', 'module', 'crm']);
      expect({ code, stderr }).to.deep.equal({
        code: 2,
        stderr: 'modgate: modules.d/crm/manifest.yaml is not in a folder: nothing was written\n',
      });
    });

    for (const name of ['CRM', 'a/b/c', '../crm', '.crm', 'crm/', 'a b', 'a\n', 'ä']) {
      it(`rejects the name ${JSON.stringify(name)}`, async () => {
        expect(await rejectionOf('module', name)).to.equal(
          'the name of a module must be such as crm or acme/crm: lower-case letters, digits, ., _ and -, at most 63 in a part',
        );
      });
    }

    const USAGE: readonly (readonly [args: readonly string[], line: RegExp])[] = [
      [[], /^the action must be one of module, plugin, surface, authenticator, signer, importer$/],
      [['module', 'crm', '--kind', 'grpc'], /^--kind must be one of local, http$/],
      [['module', 'crm', '--dir', ''], /^--dir must not be empty$/],
    ];
    for (const [args, line] of USAGE) {
      it(`rejects 'new ${args.join(' ')}'`, async () => {
        expect(await rejectionOf(...args)).to.match(line);
      });
    }
  });
});

describe('modgate new plugin', () => {
  const place = useEach(createWorkplace);

  const read = (path: string) => readFileSync(join(place.folder, path), 'utf8');

  // test/load/documented-adapter.test.ts builds and tests the files.
  it('writes a package into a folder of its name, and prints the paths', async () => {
    const { code, stdout, stderr } = await place.run(['new', 'plugin', '@acme/modgate-mqtt']);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const files = readdirSync(join(place.folder, 'modgate-mqtt'), { recursive: true })
      .map((path) => `modgate-mqtt/${path}`)
      .filter((path) => path !== 'modgate-mqtt/src');
    expect(stdout.trim().split('\n').sort()).to.deep.equal(
      files.map((path) => `created ${path}`).sort(),
    );
    expect(files).to.include.members(['modgate-mqtt/plugin.json', 'modgate-mqtt/.gitignore']);
    expect(JSON.parse(read('modgate-mqtt/package.json'))).to.include({
      name: '@acme/modgate-mqtt',
    });
    expect(JSON.parse(read('modgate-mqtt/plugin.json'))).to.deep.include({
      name: 'modgate-mqtt',
      contract: 1,
      kinds: ['mqtt'],
    });
    for (const file of files) expect(read(file), file).not.to.match(/\{\{\w+\}\}/);
  });

  it('derives the kind from the name, and writes to --dir', async () => {
    const args = ['new', 'plugin', 'acme-mqtt', '--dir', 'deep/er', '--json'];
    const { code, stdout } = await place.run(args);
    expect(code).to.equal(0);
    expect(JSON.parse(stdout).created).to.include('deep/er/acme-mqtt/plugin.json');
    expect(JSON.parse(read('deep/er/acme-mqtt/plugin.json'))).to.deep.include({
      name: 'acme-mqtt',
      kinds: ['acme-mqtt'],
    });
  });

  async function rejectionOf(name: string, template = 'plugin'): Promise<string> {
    const before = readdirSync(place.folder, { recursive: true });
    const { code, stdout, stderr } = await place.run(['new', template, name]);
    expect({ code, stdout }, stderr).to.deep.equal({ code: 2, stdout: '' });
    expect(readdirSync(place.folder, { recursive: true })).to.deep.equal(before);
    return stderr.slice('modgate: '.length, -1);
  }

  it('rejects an existing folder', async () => {
    mkdirSync(join(place.folder, 'mqtt'));
    expect(await rejectionOf('mqtt')).to.equal('mqtt already exists: nothing was written');
  });

  for (const name of ['MQTT', '1mqtt', 'acme/mqtt', '@acme/', '../mqtt', '.mqtt', 'a.b', 'a b']) {
    it(`rejects the name ${JSON.stringify(name)}`, async () => {
      expect(await rejectionOf(name)).to.match(/^the name of a plugin must be lower case/);
    });
  }

  for (const [template, ...names] of [
    ['plugin', 'http', '@acme/modgate-unix', 'console'],
    ['surface', 'modules', '@acme/modgate-mcp'],
    ['authenticator', 'tokens', 'http'],
    ['importer', 'openapi', '@acme/modgate-grpc'],
  ] as const) {
    for (const name of names) {
      it(`rejects the ${template} ${JSON.stringify(name)}, which modgate has itself`, async () => {
        expect(await rejectionOf(name, template)).to.match(
          /^'\w+' is a name of modgate itself: choose another, such as acme-\w+$/,
        );
      });
    }
  }

  it('accepts the name of a part of another type', async () => {
    for (const [template, name] of [
      ['authenticator', '@acme/modgate-nats'],
      ['signer', '@acme/modgate-grpc'],
      ['plugin', '@acme/modgate-audit'],
    ] as const) {
      const { code, stderr } = await place.run(['new', template, name]);
      expect({ code, stderr }, name).to.deep.equal({ code: 0, stderr: '' });
    }
  });
});
