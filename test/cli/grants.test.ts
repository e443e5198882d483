import { expect } from 'chai';
import { createWorkplace, type Workplace } from '../support/cli/run-in.js';

const UI = `sha256:${'1'.repeat(64)}`;
const RELEASE = `sha256:${'2'.repeat(64)}`;

const MANIFEST = {
  protocol: 'modgate.manifest.v1',
  module_id: 'acme/crm',
  capabilities: ['crm.read', 'crm.sync', 'crm.config', 'crm.config.read'],
  http_routes: [],
  admin: {
    entities: [{ name: 'contacts', read_capability: 'crm.read', list_path: '/contacts' }],
    actions: [{ name: 'sync', capability: 'crm.sync', invoke_path: '/sync' }],
  },
  config: {
    read_capability: 'crm.config.read',
    write_capability: 'crm.config',
    fields: [{ service: 'crm', key: 'size', type: { kind: 'int' } }],
  },
};

const DESCRIPTOR = {
  module: 'crm',
  provider: { kind: 'http', config: { endpoints: ['http://127.0.0.1:1'] } },
  manifest: './crm/manifest.json',
  console: { ui: [UI], grants: ['crm.read', 'crm.config', 'crm.old'] },
};

describe('modgate grants', () => {
  let place: Workplace;

  beforeEach(() => {
    place = createWorkplace();
    place.write('modules.d/crm/manifest.json', MANIFEST);
  });

  const describeCrm = (members: object = {}) =>
    place.write('modules.d/crm.json', { ...DESCRIPTOR, ...members });

  async function readReport(): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await place.run(['grants', 'crm', '--json']);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  async function readDigest(): Promise<string> {
    const { stdout } = await place.run(['digest', 'modules.d/crm/manifest.json']);
    return stdout.trim();
  }

  it('prints granted and declared permissions and their differences as JSON', async () => {
    describeCrm();
    const digest = await readDigest();
    expect(await readReport()).to.deep.equal({
      module: 'crm',
      module_id: 'acme/crm',
      file: 'modules.d/crm.json',
      enabled: true,
      manifest_from: 'file',
      manifest_digest: digest,
      pin: 'absent',
      release: digest,
      ui: [UI],
      grants: ['crm.read', 'crm.config', 'crm.old'],
      permissions: [
        { permission: 'crm.read', granted: true, declared: true, opens: ['entity contacts'] },
        { permission: 'crm.sync', granted: false, declared: true, opens: ['action sync'] },
        {
          permission: 'crm.config',
          granted: true,
          declared: true,
          opens: ['configuration (read)', 'configuration (write)'],
        },
        {
          permission: 'crm.config.read',
          granted: false,
          declared: true,
          opens: ['configuration (read)'],
        },
        { permission: 'crm.old', granted: true, declared: false, opens: [] },
      ],
      not_granted: ['crm.sync', 'crm.config.read'],
      not_declared: ['crm.old'],
    });
  });

  it('prints text', async () => {
    describeCrm();
    const digest = await readDigest();
    const { code, stdout } = await place.run(['grants', 'crm']);
    expect(code).to.equal(0);
    expect(stdout).to.equal(
      [
        'module    crm (modules.d/crm.json)',
        `manifest  ${digest}`,
        'pin       none: the grants apply to any manifest',
        `release   ${digest}`,
        `ui        ${UI}`,
        '',
        'permission       granted  opens',
        'crm.read         yes      entity contacts',
        'crm.sync         no       action sync',
        'crm.config       yes      configuration (read), configuration (write)',
        'crm.config.read  no       configuration (read)',
        'crm.old          yes      nothing: the manifest does not declare it',
        '',
      ].join('\n'),
    );
  });

  it('uses the release of the descriptor', async () => {
    describeCrm({ console: { ...DESCRIPTOR.console, release: RELEASE } });
    expect((await readReport())['release']).to.equal(RELEASE);
  });

  it('reports whether the pin matches', async () => {
    describeCrm({ manifest_digest: await readDigest() });
    expect((await readReport())['pin']).to.equal('fits');
    place.write('modules.d/crm/manifest.json', { ...MANIFEST, summary: 'changed' });
    const report = await readReport();
    expect(report['pin']).to.equal('differs');
    expect(report['manifest_digest']).to.equal(await readDigest());
    const { stdout } = await place.run(['grants', 'crm']);
    expect(stdout).to.include('does NOT match');
  });

  it('prints the grants without a manifest that only the provider has', async () => {
    describeCrm({ manifest: { from: 'provider' }, manifest_digest: RELEASE });
    expect(await readReport()).to.deep.include({
      module_id: null,
      manifest_from: 'provider',
      manifest_digest: null,
      pin: 'unknown',
      release: null,
      not_granted: [],
      not_declared: [],
    });
  });

  it('does not need secrets of the provider', async () => {
    const config = { ...DESCRIPTOR.provider.config, auth: { bearer: 'env:NOT_SET_ANYWHERE' } };
    describeCrm({ provider: { kind: 'http', config } });
    expect((await readReport())['grants']).to.deep.equal(DESCRIPTOR.console.grants);
  });

  it('reads another folder with --modules', async () => {
    place.write('elsewhere/crm.json', { ...DESCRIPTOR, manifest: { inline: MANIFEST } });
    const args = ['grants', 'crm', '--json', '--modules', 'elsewhere'];
    const { code, stdout } = await place.run(args);
    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.include({ file: 'elsewhere/crm.json' });
  });

  it('prints a descriptor without a console, or a disabled one', async () => {
    describeCrm({ console: undefined, enabled: false });
    const { code, stdout } = await place.run(['grants', 'crm']);
    expect(code).to.equal(0);
    expect(stdout).to.include('modules.d/crm.json, disabled').and.include('ui        none');
  });

  it('exits with 2 for an unknown module and suggests a similar name', async () => {
    describeCrm();
    const { code, stdout, stderr } = await place.run(['grants', 'crn']);
    expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
    expect(stderr).to.match(/^modgate: [^\n]*'crn'[^\n]*did you mean 'crm'\?\n$/);
  });

  it('exits with 2 and one line for an invalid descriptor or manifest', async () => {
    describeCrm({ surplus: 1 });
    const descriptor = await place.run(['grants', 'crm']);
    expect(descriptor.code).to.equal(2);
    expect(descriptor.stderr).to.match(/^modgate: crm\.json:1:\d+ [^\n]*surplus[^\n]*\n$/);

    describeCrm();
    place.write('modules.d/crm/manifest.json', { ...MANIFEST, capabilities: 'crm.read' });
    const manifest = await place.run(['grants', 'crm']);
    expect(manifest.code).to.equal(2);
    expect(manifest.stderr).to.match(
      /^modgate: \S*manifest\.json:1:\d+ [^\n]*capabilities[^\n]*\n$/,
    );
  });

  it('exits with 2 without a module or a folder', async () => {
    expect((await place.run(['grants'])).code).to.equal(2);
    expect((await place.run(['grants', 'crm', '--modules', 'nowhere'])).code).to.equal(2);
  });
});
