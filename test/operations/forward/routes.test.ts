import { expect } from 'chai';
import { call, JSON_TYPE, parseJson, ROOT } from '../../support/http/call.js';
import { readCorpus } from '../../support/http/corpus.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { buildManifest, describeModule, toRoutes } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';

interface Precedence {
  readonly routes: readonly string[];
  readonly requests: readonly {
    readonly title: string;
    readonly path: string;
    readonly declared: string;
    readonly params: Readonly<Record<string, string>>;
  }[];
}

const precedence = readCorpus<Precedence>('route-precedence');

describe('precedence of routes', () => {
  const reversed = [...precedence.routes].reverse();
  const setup = useHost((provider) => ({
    'shapes.json': describeModule('shapes', provider.url, toRoutes(precedence.routes, 'use')),
    'reversed.json': describeModule('reversed', provider.url, toRoutes(reversed, 'use')),
  }));

  for (const module of ['shapes', 'reversed']) {
    for (const { title, path, declared, params } of precedence.requests) {
      it(`prefers ${title}: ${path} (${module})`, async () => {
        const response = await call(setup.host, { target: `/modules/${module}/http${path}` });
        expect(response.status, response.body.toString()).to.equal(200);
        const body = parseJson(response);
        expect(body['declared_path']).to.equal(declared);
        expect(Object.entries(body['path_params'] as object)).to.have.deep.members(
          Object.entries(params),
        );
        expect(setup.provider.only().target).to.equal(path);
      });
    }
  }

  it('returns a parameter named __proto__ as an own field', async () => {
    const response = await call(setup.host, { target: '/modules/shapes/http/odd/a/b' });
    const params = parseJson(response)['path_params'] as object;
    expect(Object.entries(params)).to.have.deep.members([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
  });

  it('keeps routes of different methods apart', async () => {
    const put = { method: 'PUT', headers: [JSON_TYPE], body: Buffer.from('1') };
    const missed = await call(setup.host, { ...put, target: '/modules/shapes/http/a/b' });
    expectProblem(missed, 404);
    const response = await call(setup.host, { ...put, target: '/modules/shapes/http/a/b/c' });
    expect(parseJson(response)['declared_path']).to.equal('/{y}/{z}/{w}');
  });
});

interface RejectedManifest {
  readonly title: string;
  readonly routes: readonly string[];
}

describe('conflicting routes', () => {
  const refused = readCorpus<RejectedManifest[]>('manifests-refused');
  const setup = useHost((provider) => {
    const files: Record<string, object> = {};
    refused.forEach(({ routes }, index) => {
      const name = `bad-${index}`;
      files[`${name}.json`] = describeModule(name, provider.url, toRoutes(routes, 'use'));
    });
    files['unknown-capability.json'] = describeModule('unknown-capability', provider.url, [], {
      manifest: {
        inline: {
          ...buildManifest('unknown-capability', toRoutes(['GET /a'], 'use')),
          capabilities: [],
        },
      },
    });
    files['good.json'] = describeModule('good', provider.url, [
      ...toRoutes(['GET /x/{a}', 'POST /x/{a}', 'GET /x/{a...}', 'GET /x/{a}/y', 'GET /x'], 'use'),
    ]);
    return files;
  });
  const readState = async (file: string) => {
    const response = await call(setup.host, { target: '/modules', as: STATUS_READER });
    const { modules } = parseJson(response) as { modules: Record<string, unknown>[] };
    return modules.find((entry) => entry['file'] === file);
  };

  refused.forEach(({ title }, index) => {
    it(`rejects ${title} with the reason`, async () => {
      const entry = await readState(`bad-${index}.json`);
      expect(entry?.['state']).to.equal('refused');
      expect(entry?.['reason']).to.be.a('string').and.not.equal('');
      const target = `/modules/bad-${index}/http/a`;
      expectProblem(await call(setup.host, { target }), 404);
    });
  });

  it('rejects a route that names a capability the manifest does not have', async () => {
    expect((await readState('unknown-capability.json'))?.['state']).to.equal('refused');
  });

  it('accepts different shapes and different methods', async () => {
    expect((await readState('good.json'))?.['state']).to.equal('live');
    const response = await call(setup.host, { target: '/modules/good/http/x/1', as: ROOT });
    expect(parseJson(response)['declared_path']).to.equal('/x/{a}');
  });
});

const STATUS_READER = 'dev-service:ops:modgate.modules.read';
