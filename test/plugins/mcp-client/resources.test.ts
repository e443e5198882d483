import { expect } from 'chai';
import { describeLibrary } from '../../support/mcp/library-module.js';
import { startMcpServer } from '../../support/mcp/mcp-server.js';
import { startHost } from '../../support/start-host.js';
import { use } from '../../support/use.js';

const PIXEL = Buffer.from('89504e470d0a1a0a', 'hex');

const RESOURCES = {
  'file:///notes/a b.md': { text: '# Ä', mimeType: 'text/markdown' },
  'file:///plain': { text: 'plain' },
  'image://pixel': { blob: PIXEL.toString('base64'), mimeType: 'image/png' },
  'image://odd': { blob: PIXEL.toString('base64'), mimeType: 'image/png\r\nx: y' },
  'image://long': { blob: Buffer.alloc(100_000).toString('base64') },
};

describe('resources of an MCP server', () => {
  const server = use(() => startMcpServer(() => [], { resources: RESOURCES }));
  const host = use(() =>
    startHost({
      files: {
        'library.yaml': describeLibrary(server.url, {
          limits: { bytes: { response: 50_000 } },
        }),
      },
    }),
  );

  const read = (uri: string, method = 'GET') =>
    fetch(`${host.url}/modules/library/http/resources/${encodeURIComponent(uri)}`, {
      method,
      headers: { authorization: 'Bearer dev-service:test:library.read' },
    });

  const readWhole = async (uri: string) => {
    const response = await read(uri);
    const body = Buffer.from(await response.arrayBuffer());
    return { status: response.status, type: response.headers.get('content-type'), body };
  };

  it('answers with text in its media type', async () => {
    expect(await readWhole('file:///notes/a b.md')).to.deep.equal({
      status: 200,
      type: 'text/markdown',
      body: Buffer.from('# Ä'),
    });
    expect((await readWhole('file:///plain')).type).to.equal('text/plain; charset=utf-8');
  });

  it('answers with the decoded bytes of a blob', async () => {
    expect(await readWhole('image://pixel')).to.deep.equal({
      status: 200,
      type: 'image/png',
      body: PIXEL,
    });
  });

  it('answers HEAD with the headers alone', async () => {
    const response = await read('image://pixel', 'HEAD');
    expect([response.status, response.headers.get('content-length')]).to.deep.equal([200, '8']);
    expect(await response.text()).to.equal('');
  });

  it('replaces a media type that is none', async () => {
    expect((await readWhole('image://odd')).type).to.equal('application/octet-stream');
  });

  it('rejects a resource above the limit', async () => {
    expect((await readWhole('image://long')).status).to.equal(502);
  });

  it('serves only what the server lists', async () => {
    const { status, body } = await readWhole('file:///etc/passwd');
    expect([status, JSON.parse(body.toString()).detail]).to.deep.equal([
      404,
      'the server lists no such resource',
    ]);
    expect(server.requests.some(({ text }) => text.includes('passwd'))).to.equal(false);
  });
});
