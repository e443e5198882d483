import { expect } from 'chai';
import { call, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { buildManifest, describeModule } from '../../support/http/modules.js';
import { startHost } from '../../support/start-host.js';
import { use } from '../../support/use.js';

const ENDPOINT = 'http://127.0.0.1:4100';
const READER = 'dev-service:ops:modgate.modules.read';
const SECRET = 's3cret-default';
const FIELDS = [
  { service: 'crm', key: 'size', type: { kind: 'int' }, default: 50 },
  { service: 'crm', key: 'token', type: { kind: 'string' }, default: SECRET, sensitive: true },
];
const MANIFEST = { ...buildManifest('crm', []), config: { fields: FIELDS, delivery_path: '/c' } };

describe('GET /manifests', () => {
  const host = use(() =>
    startHost({
      files: {
        'a.json': describeModule('z', ENDPOINT, []),
        'crm.json': { ...describeModule('crm', ENDPOINT, []), manifest: { inline: MANIFEST } },
        'off.json': { ...describeModule('off', ENDPOINT, []), enabled: false },
        'bad.yaml': 'module: bad\n',
      },
    }),
  );

  it('lists live modules by name, with the digests of GET /modules', async () => {
    const { manifests } = parseJson(await call(host, { target: '/manifests', as: READER })) as {
      manifests: { name: string; digest: string; manifest: object }[];
    };
    expect(manifests.map(({ name }) => name)).to.deep.equal(['crm', 'z']);
    const { modules } = parseJson(await call(host, { target: '/modules', as: READER })) as {
      modules: { name: string; digest: string }[];
    };
    for (const { name, digest } of manifests) {
      expect(modules.find((module) => module.name === name)?.digest).to.equal(digest);
    }
    expect(manifests[1]?.manifest).to.deep.equal(buildManifest('z', []));
  });

  it('lists one module when it is named, and none without a live module of that name', async () => {
    const list = async (query: string) => {
      const response = await call(host, { target: `/manifests?${query}`, as: READER });
      const { manifests } = parseJson(response) as { manifests: { name: string }[] };
      return manifests.map(({ name }) => name);
    };
    expect(await list('module=crm')).to.deep.equal(['crm']);
    expect(await list('module=off')).to.deep.equal([]);
    for (const query of ['module=a&module=b', 'module=%20', 'name=crm']) {
      expectProblem(await call(host, { target: `/manifests?${query}`, as: READER }), 400);
    }
  });

  it('omits only the defaults of sensitive fields', async () => {
    const response = await call(host, { target: '/manifests', as: READER });
    expect(response.body.toString()).not.to.include(SECRET);
    const { manifests } = parseJson(response) as { manifests: { manifest: object }[] };
    const [size, { default: _secret, ...token }] = FIELDS as [object, { default: string }];
    const expected = { ...MANIFEST, config: { ...MANIFEST.config, fields: [size, token] } };
    expect(manifests[0]?.manifest).to.deep.equal(expected);
  });

  it('requires its scope', async () => {
    const ask = (as: string | null, method = 'GET') =>
      call(host, { method, target: '/manifests', as });
    expectProblem(await ask(null), 401);
    for (const as of ['dev-service:ops', 'dev-user:ann:console.admin']) {
      expectProblem(await ask(as), 403);
    }
    expectProblem(await ask(READER, 'POST'), 405);
    expect((await ask('dev-system:root')).status).to.equal(200);
  });
});
