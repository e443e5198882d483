import { expect } from 'chai';
import { call, parseJson } from '../support/http/call.js';
import { describeModule, toRoutes } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';
import { expectValidDocument } from '../support/openapi/validate-document.js';

// biome-ignore lint/suspicious/noExplicitAny: a document of unknown shape
type Document = any;

const ITEM = '/modules/files/http/files/{id}';
const REST = { method: 'GET', path: '/modules/files/http/files/{path...}' };

describe('GET /openapi.json?callable=true with routes of one shape', () => {
  const setup = useHost(({ url }) => ({
    'files.json': describeModule('files', url, [
      ...toRoutes(['GET /files/{id}'], 'files.read'),
      ...toRoutes(['GET /files/{path...}'], 'files.browse'),
    ]),
  }));

  const read = async (as: string): Promise<Document> => {
    const response = await call(setup.host, { target: '/openapi.json?callable=true', as });
    await expectValidDocument(response.body.toString());
    return parseJson(response);
  };

  it('hides the rest route from a caller of both', async () => {
    const { paths, 'x-modgate-hidden': hidden } = await read(
      'dev-service:a:files.read,files.browse',
    );
    expect(paths[ITEM].get.operationId).to.equal('files.get_files_by_id');
    expect(hidden).to.deep.equal([REST]);
  });

  it('shows the rest route to a caller of that route alone', async () => {
    const { paths, 'x-modgate-hidden': hidden } = await read('dev-service:a:files.browse');
    expect(Object.keys(paths)).to.deep.equal([ITEM]);
    const { operationId, parameters } = paths[ITEM].get;
    expect(operationId).to.equal('files.get_files_by_path');
    expect(parameters[0]).to.include({
      name: 'id',
      'x-modgate-rest': true,
      'x-modgate-name': 'path',
    });
    expect(hidden).to.equal(undefined);
  });

  it('does not list the rest route for a caller of the other one', async () => {
    const document = await read('dev-service:a:files.read');
    expect(Object.keys(document.paths)).to.deep.equal([ITEM]);
    expect(document).not.to.have.property('x-modgate-hidden');
  });
});
