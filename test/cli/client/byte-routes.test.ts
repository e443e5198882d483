import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createWorkplace, type Workplace } from '../../support/cli/run-in.js';
import { ROOT } from '../../support/http/call.js';
import { useBytes } from '../../support/http/use-bytes.js';
import { compile, toModuleUrl } from '../../support/typescript/compile.js';

const USE = `
import { createClient } from './client.js';

export async function run(url: string): Promise<unknown[]> {
  const { files } = createClient({ url, token: '${ROOT}' });
  const form = new FormData();
  form.set('name', 'tea');
  const sent = await files.post_files_by_rest({ rest: 'a', body: form });
  const blob = new Blob(['tea'], { type: 'text/plain' });
  const both = await files.put_files_by_rest({ rest: 'a/b c', body: blob });
  const missing = await files.get_images_by_id({ id: '1' });
  return [
    sent.ok && sent.data,
    both.ok && (await both.data.text()),
    missing.ok ? null : missing.error.code,
  ];
}
`;

describe('a typed client of routes of bytes', () => {
  const setup = useBytes();
  let place: Workplace;

  before(() => {
    place = createWorkplace();
  });

  after(() => place.remove());

  it('accepts forms and blobs, and returns the response itself', async () => {
    const args = ['client', 'files', '--url', setup.host.url, '--token', ROOT];
    const { code, stderr } = await place.run([...args, '--out', 'client.ts']);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const use = place.write('use.ts', USE);
    expect(compile([use], { lib: ['es2022', 'dom'], types: [] })).to.deep.equal([]);
    const client = readFileSync(join(place.folder, 'client.ts'), 'utf8');
    const { run } = await import(
      toModuleUrl(USE.replace('./client.js', () => toModuleUrl(client)))
    );
    setup.answer(async (request, response) => {
      const type = String(request.headers['content-type']).split(';')[0];
      request.resume();
      const contentType = request.method === 'POST' ? 'application/json' : 'text/plain';
      response.writeHead(200, { 'content-type': contentType });
      response.end(JSON.stringify([request.method, request.url, type]));
    });
    expect(await run(setup.host.url)).to.deep.equal([
      ['POST', '/files/a', 'multipart/form-data'],
      '["PUT","/files/a/b%20c","text/plain"]',
      'external_dependency_failure',
    ]);
  });
});
