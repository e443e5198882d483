import { expect } from 'chai';
import { type CheckReport, checkJsonIn } from '../../support/cli/check-json.js';
import { createWorkplace } from '../../support/cli/run-in.js';
import { startEchoProvider } from '../../support/echo-provider.js';
import { buildManifest, describeModule } from '../../support/http/modules.js';
import { startHost } from '../../support/start-host.js';
import { use, useEach } from '../../support/use.js';

const ENDPOINT = 'http://127.0.0.1:4100';
const ROUTES = [{ method: 'GET', path: '/items', capability: 'crm.read' }];
const GOOD = describeModule('crm', ENDPOINT, ROUTES);
const SECRET = 'hunter2';
const BAD = `module: bad
provider:
  kind: http
  config: { endpoints: ['${ENDPOINT}'], auth: { bearer: ${SECRET} } }
manifest: { inline: { protocol: ${SECRET} } }
retires: { attempts: ${SECRET} }
`;

const BAD_EVERYWHERE = `module: crm
config: { endpoints: ["${ENDPOINT}"] }
provider:
  kind: http
  config: { endpoints: ["127.0.0.1:70000"],
    auth: { bearer: env:CRM_TOKEN } }
manifest:
  inline:
    protocol: modgate.manifest.v1
    module_id: crm
    capabilities: [crm.read]
    http_routes:
      - { method: GET, path: "/a/{id}", capability: crm.raed }
      - { method: GET, path: "/b/:id", capability: crm.read }
      - { method: GET, path: "/c/{id", capability: crm.write }
limits: { concurrency: 0 }
breaker: { open_ms: 5000, max_open_ms: 4000 }
`;

describe('modgate check', () => {
  const place = useEach(createWorkplace);

  const checkJson = (...args: string[]) => checkJsonIn(place, ...args);

  it('prints only the summary for a valid folder', async () => {
    place.write('modules.d/crm.json', GOOD);
    place.write('modules.d/sales.json', describeModule('sales', ENDPOINT, ROUTES));
    const expected = { code: 0, stdout: '2 files, 0 errors, 0 warnings\n', stderr: '' };
    expect(await place.run(['check'])).to.deep.equal(expected);
    expect(await place.run(['check', 'modules.d'])).to.deep.equal(expected);
    expect(await place.run(['check', '--modules', 'modules.d'])).to.deep.equal(expected);
    const variable = { MODGATE_MODULES: 'modules.d' };
    expect(await place.run(['check'], variable)).to.deep.equal(expected);
  });

  it('lists the scopes that a provider learns, and warns of those of other modules', async () => {
    const crm = (identity: unknown) => {
      const described = describeModule('crm', ENDPOINT, ROUTES, { identity });
      const { manifest } = described as { manifest: { inline: object } };
      const capabilities = ['crm.read', 'sales.read', 'sales.write'];
      const actions = capabilities.slice(1).map((capability, index) => {
        return { name: `a${index}`, capability, invoke_path: '/a' };
      });
      Object.assign(manifest.inline, { capabilities, admin: { actions } });
      return described;
    };
    const sales = [{ method: 'GET', path: '/items', capability: 'sales.read' }];
    place.write('modules.d/sales.json', describeModule('sales', ENDPOINT, sales));
    for (const [identity, learned, isWarned] of [
      [false, null, false],
      [true, 'crm.read, sales.read, sales.write', true],
      [{ scopes: ['crm.*'] }, 'crm.read', false],
      [{ scopes: ['*'] }, 'crm.read, sales.read, sales.write', true],
      [{ scopes: ['crm.*', 'sales.read'] }, 'crm.read, sales.read', false],
      [{ scopes: [] }, null, false],
    ] as const) {
      place.write('modules.d/crm.json', crm(identity));
      const { findings, notes } = await checkJson('modules.d');
      const rules = findings.map(({ rule }) => rule);
      expect(rules, JSON.stringify(identity)).to.deep.equal(isWarned ? ['foreign-scope'] : []);
      const note = `the provider learns by modgate-identity which of these scopes a caller has: ${learned}`;
      const messages = notes.map(({ message }) => message);
      expect(messages).to.deep.equal(learned === null ? [] : [note]);
    }
    place.write('modules.d/crm.json', crm({ scopes: ['a b'], more: 1 }));
    const { findings } = await checkJson('modules.d');
    expect(findings.map(({ severity }) => severity)).to.deep.equal(['error', 'error']);
  });

  it('reports examples that violate the schemas of their route', async () => {
    const operation = {
      input_schema: { required: ['name'], properties: { size: { type: 'integer' } } },
      output_schema: { items: { type: 'string' } },
      examples: [
        { name: 'good', input: { name: 'a' }, output: [] },
        { name: 'bad', input: { size: SECRET }, output: ['a', 1] },
      ],
    };
    const route = { method: 'POST', path: '/items', capability: 'crm.use', operation };
    const manifest = JSON.stringify(buildManifest('crm', [route]), null, 1);
    place.write('modules.d/crm.manifest.json', manifest);
    const descriptor = describeModule('crm', ENDPOINT, [], { manifest: './crm.manifest.json' });
    place.write('modules.d/crm.json', descriptor);
    for (const args of [[], ['modules.d/crm.manifest.json']]) {
      const { code, findings } = await checkJson(...args);
      expect(code).to.equal(1);
      const summaries = findings.map(({ rule, message, line }) => [rule, line !== null, message]);
      const start = "'http_routes[0].operation.examples[1]";
      expect(summaries).to.have.deep.members([
        ['invalid-example', true, `${start}.input.name' violates the schema: missing`],
        ['invalid-example', true, `${start}.input.size' violates the schema: expected integer`],
        ['invalid-example', true, `${start}.output[1]' violates the schema: expected string`],
      ]);
      expect(JSON.stringify(findings)).not.to.contain(SECRET);
    }
  });

  it('prints every error with its place, rule and hint but without values, and exits with 1', async () => {
    place.write('modules.d/bad.yaml', BAD);
    place.write('modules.d/crm.json', GOOD);
    const { code, stdout, stderr } = await place.run(['check']);
    expect({ code, stderr }).to.deep.equal({ code: 1, stderr: '' });
    const lines = stdout.split('\n');
    expect(lines[0]).to.match(
      /^modules\.d\/bad\.yaml:4:\d+: error: 'provider\.config\.auth\.bearer' must be .* \[invalid-value\]$/,
    );
    expect(lines[1]).to.equal(
      "modules.d/bad.yaml:5:13: error: missing key 'module_id' [missing-key]",
    );
    expect(lines).to.include(
      "modules.d/bad.yaml:6:1: error: unknown key 'retires' (did you mean 'retry'?) [unknown-key]",
    );
    expect(lines.slice(-3)).to.deep.equal(['', '2 files, 6 errors, 0 warnings', '']);
    expect(stdout).not.to.include(SECRET);
  });

  it('prints the mistakes of all parts of a descriptor at once', async () => {
    place.write('modules.d/bad.yaml', BAD_EVERYWHERE);
    const { stdout } = await place.run(['check']);
    const diagnostics = stdout
      .split('\n')
      .map((line) => /^[^ ]+:(\d+):\d+: .* \[(.+)\]$/.exec(line));
    expect(
      diagnostics.flatMap((match) => (match === null ? [] : [`${match[1]} ${match[2]}`])),
    ).to.deep.equal([
      '2 unknown-key',
      '5 invalid-value',
      '6 unresolved-reference',
      '13 unlisted-capability',
      '14 literal-parameter',
      '15 bad-template',
      '15 unlisted-capability',
      '16 invalid-value',
      '17 min-above-max',
    ]);
    expect(stdout).to.include("(did you mean 'crm.read'?)").and.include('(move it into');
    const allowing = await place.run(['check', '--allow-missing-secrets']);
    expect(allowing.stdout).to.include('min-above-max');
    expect(allowing.stdout).to.not.include('unresolved-reference');
  });

  it('checks the manifest file and the references of an invalid descriptor', async () => {
    place.write('modules.d/crm/manifest.json', '{"protocol":1}');
    place.write(
      'modules.d/bad.yaml',
      `module: bad\nprovider: { kind: http, config: { auth: { bearer: 'file:./none' } } }\n` +
        'manifest: ./crm/manifest.json\n',
    );
    const { findings } = await checkJson();
    const rules = new Set(findings.map(({ file, rule }) => `${file} ${rule}`));
    expect(rules).to.include('modules.d/bad.yaml missing-key');
    expect(rules).to.include('modules.d/bad.yaml unresolved-reference');
    expect(rules).to.include('modules.d/crm/manifest.json invalid-value');
  });

  it('names each path with a parameter that is not in quotes', async () => {
    place.write(
      'modules.d/bad.yaml',
      'module: bad\na: { path: /b/{id}, x: 1 }\nb: { path: /c/{id} }\n',
    );
    const { findings } = await checkJson();
    expect(findings.map(({ rule, line }) => `${rule} ${line}`)).to.deep.equal([
      'yaml-syntax 2',
      'yaml-syntax 3',
    ]);
  });

  it('exits with 0 for warnings', async () => {
    const open = { method: 'GET', path: '/open' };
    const file = place.write('modules.d/crm.json', describeModule('crm', ENDPOINT, [open]));
    const { code, stdout } = await place.run(['check', file]);
    expect(code).to.equal(0);
    expect(stdout).to.match(
      /^modules\.d\/crm\.json:1:\d+: warning: .* \[route-without-capability\]\n/,
    );
    expect(stdout).to.include('\n1 file, 0 errors, 1 warning\n');
  });

  it('rejects the second file with the same module name', async () => {
    place.write('modules.d/b.json', GOOD);
    place.write(
      'modules.d/a.yaml',
      `module: crm\nprovider: { kind: http, config: { endpoints: ['${ENDPOINT}'] } }\n`,
    );
    const { code, findings } = await checkJson();
    expect(code).to.equal(1);
    expect(findings).to.have.length(1);
    expect(findings[0]).to.include({
      file: 'modules.d/b.json',
      severity: 'error',
      rule: 'duplicate-module',
      message: "module 'crm' is already configured by a.yaml",
      line: 1,
    });
  });

  it('accepts a disabled file with the same module name', async () => {
    place.write('modules.d/a.json', { ...GOOD, enabled: false });
    place.write('modules.d/b.json', GOOD);
    const { code, findings, notes } = await checkJson();
    expect({ code, findings }).to.deep.equal({ code: 0, findings: [] });
    const message = 'enabled is false: the module answers 404';
    expect(notes).to.deep.equal([{ file: 'modules.d/a.json', message }]);
  });

  it('lists ignored files with the reason', async () => {
    place.write('modules.d/crm.json', GOOD);
    place.write('modules.d/crm.yaml.bak', 'x');
    place.write('modules.d/.hidden.yaml', 'x');
    place.write('modules.d/notes.txt', 'x');
    const { stdout } = await place.run(['check']);
    expect(stdout).to.equal(
      [
        'modules.d/.hidden.yaml: ignored: starts with a dot',
        'modules.d/crm.yaml.bak: ignored: ends in .bak',
        'modules.d/notes.txt: ignored: does not end in .yaml, .yml or .json',
        '',
        '1 file, 0 errors, 0 warnings',
        '',
      ].join('\n'),
    );
  });

  it('reports an invalid manifest once, under its own name', async () => {
    const manifest = { ...buildManifest('crm', ROUTES), extra: 1 };
    place.write('modules.d/crm/manifest.json', JSON.stringify(manifest, null, 2));
    for (const name of ['a', 'b']) {
      const descriptor = { ...describeModule(name, ENDPOINT, []), manifest: './crm/manifest.json' };
      place.write(`modules.d/${name}.json`, descriptor);
    }
    const { findings } = await checkJson();
    expect(findings.map(({ file, rule }) => `${file} ${rule}`)).to.deep.equal([
      'modules.d/crm/manifest.json unknown-key',
    ]);
  });

  it('rejects unresolved references like the host', async () => {
    const auth = { bearer: 'env:CRM_TOKEN' };
    const config = { endpoints: [ENDPOINT], auth };
    place.write('modules.d/crm.json', { ...GOOD, provider: { kind: 'http', config } });
    const missing = await place.run(['check']);
    expect(missing.code).to.equal(1);
    expect(missing.stdout).to.match(
      /the variable CRM_TOKEN, which is not set \[unresolved-reference\]/,
    );
    expect((await place.run(['check'], { CRM_TOKEN: SECRET })).code).to.equal(0);
  });

  it('reports unresolved secrets as notes with --allow-missing-secrets', async () => {
    const describe = (bearer: string) => ({
      ...GOOD,
      provider: { kind: 'http', config: { endpoints: [ENDPOINT], auth: { bearer } } },
    });
    const file = place.write('modules.d/crm.json', describe('env:CRM_TOKEN'));
    const { summary, notes, files } = await checkJson('--allow-missing-secrets');
    expect(summary).to.deep.equal({ files: 1, errors: 0, warnings: 0 });
    const message =
      "'provider.config.auth.bearer' refers to the variable CRM_TOKEN, which is not set";
    expect(notes).to.deep.equal([{ file: 'modules.d/crm.json', message }]);
    const set = await place.run(['check', '--json'], { CRM_TOKEN: SECRET });
    const [expected] = (JSON.parse(set.stdout) as CheckReport).files;
    expect(files).to.deep.equal([expected]);
    // The digest covers the content of files, so it is unknown without them.
    place.write('modules.d/crm.json', describe('file:./token'));
    const missing = await checkJson('--allow-missing-secrets');
    expect(missing.code).to.equal(0);
    expect(missing.files[0]?.['config_digest']).to.equal(null);
    expect(missing.notes).to.have.length(1);
    expect((await place.run(['check', file])).code).to.equal(1);
    place.write('modules.d/crm.json', describe('env:MODGATE_STORE_KEY'));
    expect(await checkJson('--allow-missing-secrets')).to.include({ code: 1 });
  });

  it('validates the rest of a descriptor with missing secrets', async () => {
    const config = { endpoints: [ENDPOINT], auth: { bearer: 'env:CRM_TOKEN' } };
    const manifest = './missing.json';
    const provider = { kind: 'http', config };
    place.write('modules.d/crm.json', { module: 'crm', provider, manifest });
    const { code, findings } = await checkJson('--allow-missing-secrets');
    expect(code).to.equal(1);
    expect(findings).to.have.length(1);
    expect(findings[0]?.['message']).to.include('missing.json');
  });

  it('accepts the kinds of plugins in --plugins', async () => {
    place.write('modules.d/x.yaml', 'module: x\nprovider: { kind: echo }\n');
    const { code, findings } = await checkJson();
    expect(code).to.equal(1);
    expect(findings[0]).to.include({ rule: 'unknown-kind' });
    place.write('plugins/echo/plugin.json', {
      name: 'echo',
      version: '1.0.0',
      contract: 1,
      kinds: ['echo'],
      entry: './index.mjs',
    });
    place.write('plugins/echo/index.mjs', 'throw new Error("loaded")');
    const { stdout } = await place.run(['check', '--plugins', 'plugins']);
    expect(stdout).to.include('[plugin-failed]');
  });

  describe('with a manifest from elsewhere', () => {
    const provider = use(startEchoProvider);

    it('notes that it was not checked, without a request', async () => {
      const ours = describeModule('a', provider.url, []);
      place.write('modules.d/a.json', { ...ours, manifest: { from: 'provider' } });
      place.write('modules.d/b.json', { ...ours, module: 'b', manifest: { url: provider.url } });
      const { code, notes, files } = await checkJson();
      expect(code).to.equal(0);
      expect(notes.map(({ file, message }) => `${file}: ${message}`)).to.deep.equal([
        'modules.d/a.json: the manifest comes from the provider and was not checked',
        'modules.d/b.json: the manifest comes from a URL and was not checked',
      ]);
      expect(files.map(({ digest }) => digest)).to.deep.equal([null, null]);
      expect(provider.requests).to.have.length(0);
    });
  });

  it('validates a single descriptor', async () => {
    place.write('modules.d/bad.yaml', BAD);
    place.write('modules.d/crm.json', GOOD);
    const { code, stdout } = await place.run(['check', 'modules.d/crm.json']);
    expect({ code, stdout }).to.deep.equal({ code: 0, stdout: '1 file, 0 errors, 0 warnings\n' });
  });

  it('agrees with the host about every file and digest', async () => {
    const files: Record<string, string | object> = {
      'bad.yaml': BAD,
      'crm.json': GOOD,
      'file.yaml': `module: acme/file\nprovider: { kind: local, config: { file: ./file/module.mjs } }\nmanifest: ./file/manifest.json\n`,
      'file/module.mjs': 'export default () => ({ status: 204 });',
      'file/manifest.json': buildManifest('acme/file', ROUTES),
      'late.yaml': 'module: crm\nprovider: { kind: local, config: { file: ./file/module.mjs } }\n',
      'off.json': { ...describeModule('off', ENDPOINT, ROUTES), enabled: false },
      'twice.json': { ...GOOD, module: 'crm' },
      'worse.json': '{"module": }',
    };
    for (const [name, text] of Object.entries(files)) place.write(`modules.d/${name}`, text);
    const checked = await checkJson();
    const host = await startHost({ files });
    const response = await fetch(`${host.url}/modules`, {
      headers: { authorization: 'Bearer dev-system:root' },
    });
    const { modules } = (await response.json()) as { modules: Record<string, unknown>[] };
    await host.stop();
    const refused = modules.filter(({ state }) => state === 'refused').map(({ file }) => file);
    const wrong = new Set(
      checked.findings.map(({ file }) => String(file).replace('modules.d/', '')),
    );
    expect([...wrong].sort()).to.deep.equal(refused.sort());
    for (const module of modules.filter(({ state }) => state === 'live')) {
      const checkedFile = checked.files.find(({ file }) => file === `modules.d/${module['file']}`);
      expect(checkedFile).to.include({
        module: module['name'],
        digest: module['digest'],
        config_digest: module['config_digest'],
      });
    }
    expect(modules.filter(({ state }) => state === 'live')).to.have.length(2);
  });
});
