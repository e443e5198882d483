import { expect } from 'chai';
import { expectProblem, reasonOf } from '../../support/http/expect-problem.js';
import { buildManifest, describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { CODE_PUBLISHER, readReleases, sendRelease } from '../../support/releases.js';

const HINT = '(write a large manifest into a file of its own)';

const createRoutes = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    return { method: 'GET', path: `/items${index}`, capability: 'crm.read' };
  });
const toYaml = (routes: ReturnType<typeof createRoutes>, indent = '') => {
  const { http_routes: _routes, ...manifest } = buildManifest('crm', routes) as Record<
    string,
    unknown
  >;
  const members = Object.entries(manifest).map(
    ([name, value]) => `${name}: ${JSON.stringify(value)}`,
  );
  const items = routes.flatMap(({ method, path, capability }) => [
    `  - method: ${method}`,
    `    path: ${path}`,
    `    capability: ${capability}`,
  ]);
  return [...members, 'http_routes:', ...items].map((line) => `${indent}${line}\n`).join('');
};
const describeYaml = (manifest: string) =>
  `module: crm\nprovider: { kind: http, config: { endpoints: [http://127.0.0.1:1] } }\nmanifest:${manifest}`;

describe('the descriptors of a release', () => {
  const setup = useHost(() => ({}), { args: ['--modules', 'store:'] });
  const send = async (files: Record<string, string | object>) => {
    const { active } = await readReleases(setup.host);
    return sendRelease(setup.host, files, { base: active }, CODE_PUBLISHER);
  };
  const describeCrm = (overrides: object = {}) =>
    describeModule('crm', 'http://127.0.0.1:1', createRoutes(1), overrides);
  const rejection = async (files: Record<string, string | object>, file: string) =>
    reasonOf(expectProblem(await send(files), 400), file);

  it('have at most 10,000 values', async () => {
    const grant = (count: number) => {
      const grants = Array.from({ length: count }, (_, index) => `g${index}`);
      return { 'crm.json': describeCrm({ console: { grants } }) };
    };
    expect((await send(grant(9900))).status).to.equal(200);
    const reason = await rejection(grant(10_000), 'crm.json');
    expect(reason)
      .to.match(/^crm\.json:1:\d+ the file holds more than 10000 values /)
      .and.include(HINT);
  });

  it('have at most 128 KiB', async () => {
    const pad = (spaces: number) => ({
      'crm.json': JSON.stringify(describeCrm()) + ' '.repeat(spaces),
    });
    expect((await send(pad(100_000))).status).to.equal(200);
    const long = await rejection(pad(131_072), 'crm.json');
    expect(long).to.equal(`crm.json:1:1 the text is longer than 128 KiB ${HINT}`);
  });

  it('have at most 10,000 tokens in YAML', async () => {
    const inline = (count: number) => {
      const manifest = toYaml(createRoutes(count), '    ');
      return { 'crm.yaml': describeYaml(`\n  inline:\n${manifest}`) };
    };
    expect((await send(inline(300))).status).to.equal(200);
    const reason = await rejection(inline(600), 'crm.yaml');
    expect(reason)
      .to.match(/^crm\.yaml:\d{3,}:\d+ the YAML text has more than 10000 tokens /)
      .and.include(HINT);
  });

  it('may name a manifest that is larger', async () => {
    const routes = createRoutes(2500);
    const inYaml = { 'crm.yaml': describeYaml(' ./crm/manifest.yaml\n') };
    const yaml = { ...inYaml, 'crm/manifest.yaml': toYaml(routes) };
    expect((await send(yaml)).status).to.equal(200);
    const descriptor = { ...describeCrm(), manifest: './crm/manifest.json' };
    const json = { 'crm.json': descriptor, 'crm/manifest.json': buildManifest('crm', routes) };
    expect((await send(json)).status).to.equal(200);
  });

  it('may name a list of endpoints with the same limits', async () => {
    const provider = { kind: 'http', config: { endpoints: { file: './crm/endpoints.json' } } };
    const endpoints = Array.from({ length: 10_001 }, () => 0);
    const files = { 'crm.json': describeCrm({ provider }), 'crm/endpoints.json': endpoints };
    const problem = expectProblem(await send(files), 400);
    expect(problem.errors[0]?.reason).to.include('holds more than 10000 values');
  });

  it('may import at most 10,000 others in their code', async () => {
    const provider = { kind: 'local', config: { file: './crm.mjs' } };
    const code = Array.from({ length: 10_001 }, (_, index) => `import 'p${index}';`).join('\n');
    const files = { 'crm.json': describeCrm({ provider }), 'crm.mjs': code };
    expect(await rejection(files, 'files')).to.equal('the code imports more than 10000 others');
  });
});
