import { expect } from 'chai';
import { ROOT } from '../../support/http/call.js';
import { useBytes } from '../../support/http/use-bytes.js';
import { compile, createClientPlace, importTypeScript } from '../../support/typescript/compile.js';
import { use } from '../../support/use.js';

const USE = `
import { createClient, isProblem } from 'modgate/client';
import type { paths } from './client.js';

const FILE = '/modules/files/http/files/{rest...}';
const RAW = '/modules/raw/http/files/{rest...}';

export async function run(url: string): Promise<unknown[]> {
  const client = createClient<paths>({ url, token: '${ROOT}' });
  const form = new FormData();
  form.set('name', 'tea');
  const sent = await client.POST(FILE, { params: { path: { rest: 'a' } }, body: form });
  const params = { path: { rest: 'a/b c' } };
  const body = new Blob(['tea'], { type: 'text/plain' });
  const both = await client.PUT(FILE, { params, body, parseAs: 'blob' });
  const stream = new Blob(['tea']).stream();
  const headers = { 'Content-Type': 'image/png' };
  const streamed = await client.PUT(FILE, { params, body: stream, headers, parseAs: 'text' });
  const raw = await client.PUT(RAW, { params, body: 'tea', headers, parseAs: 'text' });
  const path = '/modules/files/http/images/{id}';
  const missing = await client.GET(path, { params: { path: { id: '1' } }, parseAs: 'stream' });
  const own = await client.GET(RAW, { params, parseAs: 'text' });
  return [
    sent.data,
    both.error === undefined && (await both.data.text()),
    streamed.data,
    raw.data,
    missing.error?.code,
    [own.error, isProblem(own.error), own.response.status],
  ];
}

export function reject() {
  const client = createClient<paths>({ url: '' });
  // @ts-expect-error bytes are returned in a form that the caller chooses
  return client.GET(FILE, { params: { path: { rest: 'a' } } });
}
`;

describe('a typed client of routes of bytes', () => {
  const setup = useBytes();

  const place = use(createClientPlace);

  it('sends forms, blobs, streams and texts, and returns bytes as the caller chooses', async () => {
    const args = ['client', 'files', 'raw', '--url', setup.host.url, '--token', ROOT];
    const { code, stderr } = await place.run([...args, '--out', 'client.ts']);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const use = place.write('use.ts', USE);
    const lib = ['es2022', 'dom', 'dom.iterable'];
    expect(compile([use], { lib, types: [] })).to.deep.equal([]);
    const { run } = await importTypeScript(use);
    setup.answer(async (request, response) => {
      const type = String(request.headers['content-type']).split(';')[0];
      request.resume();
      const contentType = request.method === 'POST' ? 'application/json' : 'text/plain';
      response.writeHead(request.method === 'GET' ? 404 : 200, { 'content-type': contentType });
      response.end(JSON.stringify([request.method, request.url, type]));
    });
    expect(await run(setup.host.url)).to.deep.equal([
      ['POST', '/files/a', 'multipart/form-data'],
      '["PUT","/files/a/b%20c","text/plain"]',
      '["PUT","/files/a/b%20c","image/png"]',
      '["PUT","/files/a/b%20c","image/png"]',
      'external_dependency_failure',
      [['GET', '/files/a/b%20c', 'undefined'], false, 404],
    ]);
  });
});
