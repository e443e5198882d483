import { expect } from 'chai';
import { checkJsonIn } from '../../support/cli/check-json.js';
import { createWorkplace } from '../../support/cli/run-in.js';
import { buildManifest, describeModule } from '../../support/http/modules.js';
import { useEach } from '../../support/use.js';

const ENDPOINT = 'http://127.0.0.1:4100';
const ROUTES = [{ method: 'GET', path: '/items', capability: 'crm.read' }];
const GOOD = describeModule('crm', ENDPOINT, ROUTES);
const SECRET = 'hunter2';

describe('modgate check: arguments', () => {
  const place = useEach(createWorkplace);

  const checkJson = (...args: string[]) => checkJsonIn(place, ...args);

  it('validates a manifest', async () => {
    place.write('manifest.json', buildManifest('crm', ROUTES));
    const good = await checkJson('manifest.json');
    expect(good.code).to.equal(0);
    expect(good.files[0]).to.include({ kind: 'manifest', module: 'crm' });
    const { stdout } = await place.run(['digest', 'manifest.json']);
    expect(`${good.files[0]?.['digest']}\n`).to.equal(stdout);

    const { protocol: _, ...unsigned } = buildManifest('crm', ROUTES) as { protocol: string };
    for (const manifest of [unsigned, { protocol: SECRET }, { protocol: 'modgate.manifest.v1' }]) {
      place.write('bad.json', manifest);
      const bad = await place.run(['check', 'bad.json']);
      expect(bad.code).to.equal(1);
      expect(bad.stdout).to.include('bad.json:1:').and.not.include('provider');
      expect(bad.stdout).not.to.include(SECRET);
    }
  });

  it('reports an unreadable file', async () => {
    place.write('modules.d/crm.json', '{ "module": ');
    const { code, findings } = await checkJson('modules.d/crm.json');
    expect(code).to.equal(1);
    expect(findings[0]).to.include({ rule: 'json-syntax', file: 'modules.d/crm.json', line: 1 });
  });

  it('reports a rejected source of a manifest once', async () => {
    for (const manifest of [{ url: 'file:///etc/passwd' }, { from: 'elsewhere' }]) {
      place.write('modules.d/crm.json', { ...GOOD, manifest });
      const { findings } = await checkJson('modules.d/crm.json');
      expect(findings.map(({ rule }) => rule)).to.deep.equal(['invalid-value']);
    }
  });

  it('names files outside the working directory by absolute paths', async () => {
    const file = place.write('modules.d/bad.yaml', 'module: Bad\n');
    place.write('elsewhere/x', '');
    const other = createWorkplace();
    const { stdout } = await other.run(['check', file]);
    expect(stdout.startsWith(`${file}:1:`)).to.equal(true);
  });

  const REFUSED: readonly (readonly [args: readonly string[], line: RegExp])[] = [
    [['missing.yaml'], /^missing\.yaml does not exist$/],
    [['x'.repeat(300)], /^x+ cannot be read \(ENAMETOOLONG\)$/],
    [['missing/'], /^missing\/ does not exist$/],
    [[], /^--modules must be a folder that can be read: .*modules\.d does not exist$/],
    [['--modules', 'nowhere'], /^--modules must be a folder that can be read: .* does not exist$/],
    [['--plugins', 'nowhere', '.'], /^--plugins must be a folder that can be read: /],
    [['--format', SECRET, '.'], /^--format must be one of text, json, sarif$/],
    [['--json', '--format', 'sarif', '.'], /^--json cannot be used with --format sarif$/],
    [['--against', SECRET, '.'], /^--against must be an http or https URL /],
    [
      ['--against', 'http://a@h', '.'],
      /^--against must be an http or https URL without credentials/,
    ],
    [
      ['--format', 'sarif', '--against', 'http://h', '.'],
      /^--against cannot be used with --format sarif/,
    ],
    [['a', 'b'], /^too many arguments for 'check'/],
  ];
  for (const [args, line] of REFUSED) {
    it(`rejects '${args.join(' ')}' with one line and exit 2`, async () => {
      const { code, stdout, stderr } = await place.run(['check', ...args]);
      expect({ code, stdout }, stderr).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr)
        .to.match(/^modgate: [^\n]+\n$/)
        .and.not.include(SECRET);
      expect(stderr.slice('modgate: '.length, -1)).to.match(line);
    });
  }

  it('accepts --json instead of --format json', async () => {
    place.write('modules.d/crm.json', GOOD);
    const { stdout } = await place.run(['check', '--json']);
    expect((await place.run(['check', '--format', 'json'])).stdout).to.equal(stdout);
    expect((await place.run(['check', '--json', '--format', 'json'])).stdout).to.equal(stdout);
  });
});
