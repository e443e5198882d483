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

describe('GET /openapi.json with a WebSocket beside another route', () => {
  const twin = (operation: object) => ({
    ...{ method: 'GET', path: '/both', capability: 'chat.poll', operation },
  });
  const setup = useHost(({ url }) => ({
    'chat.json': describeModule('chat', url, [
      { ...twin({ stream: 'websocket', operation_id: 'openBoth' }), capability: 'chat.open' },
      twin({ operation_id: 'readBoth' }),
      { ...twin({ stream: 'websocket' }), path: '/socket' },
    ]),
  }));
  const BOTH = '/modules/chat/http/both';
  const read = async (as?: string): Promise<Document> => {
    const target = `/openapi.json${as === undefined ? '' : '?callable=true'}`;
    const response = await call(setup.host, { target, ...(as !== undefined && { as }) });
    await expectValidDocument(response.body.toString());
    return parseJson(response);
  };

  it('shows the other one, and lists the WebSocket as hidden', async () => {
    const { paths, 'x-modgate-hidden': hidden } = await read();
    expect(paths[BOTH].get.operationId).to.equal('chat.readBoth');
    expect(paths[BOTH].get.responses).not.to.have.property('101');
    expect(hidden).to.deep.equal([{ method: 'GET', path: BOTH }]);
    const { responses } = paths['/modules/chat/http/socket'].get;
    expect(responses['101']).to.deep.equal({
      description: 'A WebSocket',
      'x-modgate-stream': 'websocket',
    });
    expect(responses).to.have.property('426').and.not.to.have.property('200');
  });

  it('shows the WebSocket to a caller of that route alone', async () => {
    const { paths, 'x-modgate-hidden': hidden } = await read('dev-service:a:chat.open');
    expect(Object.keys(paths)).to.deep.equal([BOTH]);
    expect(paths[BOTH].get.operationId).to.equal('chat.openBoth');
    expect(paths[BOTH].get.responses['101']).to.include({ 'x-modgate-stream': 'websocket' });
    expect(hidden).to.equal(undefined);
  });
});
