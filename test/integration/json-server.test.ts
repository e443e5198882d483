import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { findFreePort } from '../support/free-port.js';
import { describeModule, toRoutes } from '../support/http/modules.js';
import { waitUntil } from '../support/http/wait-until.js';
import { startHost } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';
import { use } from '../support/use.js';

const ROUTES = toRoutes(
  [
    'GET /posts',
    'POST /posts',
    'GET /posts/{id}',
    'PUT /posts/{id}',
    'PATCH /posts/{id}',
    'DELETE /posts/{id}',
  ],
  'posts',
);

/** json-server, as an example of an independent JSON service. */
describe('json-server behind kind http', () => {
  let provider: ChildProcess;

  const directory = createFolder();
  const host = use(async () => {
    writeFileSync(
      join(directory, 'db.json'),
      JSON.stringify({
        posts: [
          { id: 1, title: 'first' },
          { id: 2, title: 'Grüße' },
        ],
      }),
    );
    const port = await findFreePort();
    provider = startJsonServer(directory, port);
    const url = `http://127.0.0.1:${port}`;
    await waitUntil('json-server to respond', () =>
      fetch(url).then(
        () => true,
        () => false,
      ),
    );
    return startHost({
      files: {
        'blog.json': describeModule('blog', url, ROUTES, { provider_errors: 'passthrough' }),
      },
    });
  });

  after(async () => {
    provider?.kill();
    await once(provider, 'close');
  });

  it('reads, creates, changes and deletes through the gateway', async () => {
    expect(await ask('GET', '/posts')).to.deep.include({
      status: 200,
      data: [
        { id: 1, title: 'first' },
        { id: 2, title: 'Grüße' },
      ],
    });
    expect((await ask('GET', '/posts?title=first&_limit=1')).data).to.have.length(1);
    const created = await ask('POST', '/posts', { title: 'third' });
    expect(created.data).to.deep.equal({ id: 3, title: 'third' });
    expect((await ask('PATCH', '/posts/3', { draft: true })).data).to.deep.equal({
      id: 3,
      title: 'third',
      draft: true,
    });
    expect((await ask('PUT', '/posts/3', { title: 'again' })).data).to.deep.equal({
      id: 3,
      title: 'again',
    });
    expect((await ask('GET', '/posts/3')).data).to.deep.equal({ id: 3, title: 'again' });
    expect((await ask('DELETE', '/posts/3')).data).to.deep.equal({});
    expect((await ask('GET', '/posts/3')).status).to.equal(404);
    expect((await ask('GET', '/posts')).data).to.have.length(2);
  });

  async function ask(method: string, path: string, body?: object) {
    const response = await fetch(`${host.url}/modules/blog/http${path}`, {
      method,
      headers: {
        authorization: 'Bearer dev-service:reader:posts',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const envelope = (await response.json()) as { data?: unknown };
    return { status: response.status, data: envelope.data };
  }
});

function startJsonServer(directory: string, port: number): ChildProcess {
  const require = createRequire(import.meta.url);
  const bin = join(dirname(require.resolve('json-server/package.json')), 'lib/cli/bin.js');
  return spawn(
    process.execPath,
    [bin, '--quiet', '--host', '127.0.0.1', '--port', `${port}`, 'db.json'],
    {
      cwd: directory,
      stdio: 'ignore',
    },
  );
}
