import { expect } from 'chai';
import { call, parseJson } from '../support/http/call.js';
import { describeModule, toRoutes } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';
import { startHost } from '../support/start-host.js';

// biome-ignore lint/suspicious/noExplicitAny: a document of unknown shape
type Document = any;

const RAW = { responses: { mode: 'raw' } };
const PASSING = { provider_errors: 'passthrough' };
const LIMITED = { rate: { per_second: 5 } };

/** One module for each combination that decides which Problems its routes have. */
const MODULES: Readonly<Record<string, object>> = {
  plain: {},
  limited: LIMITED,
  passing: PASSING,
  'passing-limited': { ...PASSING, ...LIMITED },
  raw: RAW,
  'raw-limited': { ...RAW, ...LIMITED },
};

const NAMES = Object.keys(MODULES);

describe('the Problems of a route in the API description', () => {
  const setup = useHost(({ url }) =>
    Object.fromEntries(
      Object.entries(MODULES).map(([name, more]) => [
        `${name}.json`,
        describeModule(name, url, toRoutes(['GET /x'], `${name}.use`), more),
      ]),
    ),
  );

  /** The responses with what they refer to. */
  const read = async (modules: readonly string[]): Promise<Document> => {
    const query = modules.map((name) => `module=${name}`).join('&');
    const response = await call(setup.host, { target: `/openapi.json?${query}` });
    const { paths, components } = parseJson(response) as Document;
    return (module: string) => {
      const { responses } = paths[`/modules/${module}/http/x`].get;
      const entries = Object.entries<Document>(responses).map(([status, { $ref, ...own }]) => [
        status,
        $ref === undefined ? own : components.responses[$ref.split('/').at(-1)],
      ]);
      return Object.fromEntries(entries);
    };
  };

  it('are those of its module, whatever other module is described beside it', async () => {
    for (const [index, first] of NAMES.entries()) {
      const alone = (await read([first]))(first);
      for (const second of NAMES.toSpliced(index, 1)) {
        const beside = (await read([first, second]))(first);
        expect(beside, `${first} beside ${second}`).to.deep.equal(alone);
      }
    }
  });

  for (const limit of ['--actor-rate', '--auth-failures']) {
    it(`have 429 with ${limit}`, async () => {
      const files = {
        'plain.json': describeModule('plain', 'http://127.0.0.1:1', toRoutes(['GET /x'], 'use')),
      };
      const host = await startHost({ files, args: [limit, '5'] });
      const document: Document = parseJson(await call(host, { target: '/openapi.json' }));
      await host.stop();
      expect(document.paths['/modules/plain/http/x'].get.responses).to.have.property('429');
    });
  }
});
