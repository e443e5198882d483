import { expect } from 'chai';
import { headerValue } from '../../core/selftest/raw-http.js';
import { runModgate } from '../support/cli/run-modgate.js';
import { call, parseJson, ROOT } from '../support/http/call.js';
import { expectProblem } from '../support/http/expect-problem.js';
import { describeModule } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';
import { expectValidDocument } from '../support/openapi/validate-document.js';

// biome-ignore lint/suspicious/noExplicitAny: a document of unknown shape
type Document = any;

const ITEM = { type: 'object', properties: { name: { type: 'string' } } };
const EXAMPLES = [{ name: 'a cup', output: { name: 'cup' } }];
const ROUTES = [
  {
    ...{ method: 'GET', path: '/items/{id}', capability: 'shop.read' },
    operation: { output_schema: ITEM, examples: EXAMPLES },
  },
  { method: 'GET', path: '/files/{id}', capability: 'shop.read', operation: { response: 'bytes' } },
  { method: 'GET', path: '/any', capability: 'shop.read' },
];

describe('the view of clients on the API description', () => {
  const setup = useHost(({ url }) => ({
    'raw.json': describeModule('raw', url, ROUTES, { responses: { mode: 'raw' } }),
    'shop.json': describeModule('shop', url, ROUTES),
  }));
  const ask = (query: string) => call(setup.host, { target: `/openapi.json${query}` });
  const read = async (query: string): Promise<Document> => parseJson(await ask(query));

  it('describes the data without the envelope, and its examples', async () => {
    const response = await ask('?view=client');
    await expectValidDocument(response.body.toString());
    const { paths } = parseJson(response) as Document;
    const contentOf = (path: string) =>
      paths[`/modules/shop/http${path}`].get.responses[200].content['application/json'];
    const examples = { 'a cup': { value: { name: 'cup' } } };
    expect(contentOf('/items/{id}')).to.deep.equal({ schema: ITEM, examples });
    expect(contentOf('/any')).to.deep.equal({ schema: {} });
  });

  it('differs in nothing else', async () => {
    const [own, client] = [await read(''), await read('?view=client')];
    for (const path of ['/items/{id}', '/any']) {
      const ofOwn = own.paths[`/modules/shop/http${path}`].get.responses;
      const ofClient = client.paths[`/modules/shop/http${path}`].get.responses;
      expect(ofOwn[200].content['application/json'].schema.required).to.include('data');
      ofOwn[200] = ofClient[200];
    }
    expect(client).to.deep.equal(own);
  });

  it('has a tag of its own, and combines with modules', async () => {
    const tagOf = async (query: string) => headerValue((await ask(query)).headers, 'etag');
    expect(await tagOf('?view=client')).not.to.equal(await tagOf(''));
    const { paths } = await read('?view=client&module=shop&callable=true');
    expect(Object.keys(paths)).to.have.length(3);
  });

  it('is the only view', async () => {
    for (const view of ['server', '', 'client&view=client']) {
      expectProblem(await ask(`?view=${view}`), 400);
    }
  });

  it('is printed by modgate openapi, from a host and from files', async () => {
    const { url, directory } = setup.host;
    const args = ['openapi', '--view', 'client'];
    const ofHost = await runModgate([...args, '--url', url, '--token', ROOT]);
    const ofFiles = await runModgate([...args, '--modules', `${directory}/modules.d`]);
    expect([ofHost.code, ofFiles.code], ofHost.stderr + ofFiles.stderr).to.deep.equal([0, 0]);
    expect(JSON.parse(ofHost.stdout)).to.deep.equal(await read('?view=client'));
    expect(ofFiles.stdout).to.equal(ofHost.stdout);
    const { code, stderr } = await runModgate(['openapi', '--view', 'server', '--url', url]);
    expect([code, stderr]).to.deep.equal([2, 'modgate: --view must be one of client\n']);
  });
});
