import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createWorkplace } from '../../support/cli/run-in.js';
import { useEach } from '../../support/use.js';
import { LIBRARY_SET, startLibrary } from './library-server.js';

const SET = fileURLToPath(LIBRARY_SET);

interface Route {
  readonly method: string;
  readonly path: string;
  readonly capability: string;
  readonly summary?: string;
  readonly tags: readonly string[];
  readonly operation: Readonly<Record<string, unknown>>;
}

describe('modgate import grpc', () => {
  const place = useEach(createWorkplace);

  const readManifest = () =>
    JSON.parse(readFileSync(join(place.folder, 'modules.d/library/manifest.json'), 'utf8')) as {
      http_routes: Route[];
      schemas: Record<string, object>;
    };

  const find = (routes: readonly Route[], method: string, path: string) =>
    routes.find((route) => route.method === method && route.path === path);

  it('makes routes of a descriptor set and its annotations, which pass check', async () => {
    const { code, stdout, stderr } = await place.run([
      ...['import', 'grpc', SET, '--module', 'library', '--endpoint', 'grpc://127.0.0.1:50051'],
    ]);
    expect({ code, stderr }, stdout).to.deep.equal({ code: 0, stderr: '' });
    const { http_routes: routes, schemas } = readManifest();
    expect(routes.map(({ method, path }) => `${method} ${path}`)).to.deep.equal([
      'GET /v1/shelves/{shelves}/books/{books}',
      'POST /v1/shelves/{shelves}/books',
      'PATCH /v1/shelves/{shelves}/books/{books}',
      'PUT /v1/shelves/{shelves}/books/{books}',
      'GET /v1/shelves/{shelves}/books',
      'DELETE /v1/shelves/{shelves}/books/{books}',
      'POST /v1/shelves/{shelves}:merge',
      'POST /library.v1.Library/WatchBooks',
      'POST /library.v1.Library/Cover',
      'POST /library.v1.Library/SetCover',
      'POST /library.v1.Library/Pages',
      'POST /library.v1.Echo/Echo',
      'POST /library.v1.Echo/Many',
      'POST /library.v1.Echo/Fail',
      'POST /library.v1.Echo/FailLate',
      'POST /library.v1.Echo/Metadata',
    ]);
    const get = find(routes, 'GET', '/v1/shelves/{shelves}/books/{books}');
    expect(get).to.deep.include({
      summary: 'Get a book',
      description: 'The name is that of the shelf and the book.',
      tags: ['Library'],
      capability: 'library.library.read',
    });
    expect(get?.operation).to.deep.equal({
      operation_id: 'GetBook',
      idempotency: 'idempotent',
      output_schema: { $ref: 'manifest:schemas/library.v1.Book' },
      grpc: {
        method: 'library.v1.Library/GetBook',
        bind: { name: 'shelves/{shelves}/books/{books}' },
      },
    });
    const create = find(routes, 'POST', '/v1/shelves/{shelves}/books');
    expect(create?.operation['grpc']).to.deep.equal({
      method: 'library.v1.Library/CreateBook',
      body: 'book',
      bind: { parent: 'shelves/{shelves}' },
    });
    expect(create?.operation['query_schema']).to.deep.equal({
      type: 'object',
      properties: { bookId: { type: 'string' } },
    });
    const list = find(routes, 'GET', '/v1/shelves/{shelves}/books');
    expect(list?.operation['output_schema']).to.deep.equal({
      type: 'array',
      items: { $ref: 'manifest:schemas/library.v1.Book' },
    });
    const query = Reflect.get(Object(list?.operation['query_schema']), 'properties');
    expect(query).to.include.keys(
      'pageSize',
      'filter.genres',
      'filter.addedAfter',
      'filter.inPrint',
    );
    expect(find(routes, 'POST', '/library.v1.Library/WatchBooks')?.operation).to.include({
      stream: 'ndjson',
      grpc: 'library.v1.Library/WatchBooks',
    });
    expect(find(routes, 'POST', '/library.v1.Library/SetCover')?.operation).to.include({
      body: 'bytes',
      response: 'bytes',
    });
    expect(schemas).to.include.keys('library.v1.Book', 'library.v1.Everything.input');
    expect(stdout).to.include('a stream of requests is not carried');
    expect(stdout).to.include('a field mask is not filled in');
    const checked = await place.run(['check', '--json']);
    expect(JSON.parse(checked.stdout).findings).to.deep.equal([]);
  });

  it('asks a server by reflection, and finds no difference later', async () => {
    const server = await startLibrary({}, { reflection: { version: 'v1' } });
    try {
      const words = ['import', 'grpc', `127.0.0.1:${server.port}`, '--module', 'library'];
      const first = await place.run(words);
      expect({ code: first.code, stderr: first.stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(readManifest().http_routes).to.have.length(16);
      const again = await place.run([...words, '--check']);
      expect(again.code, again.stdout).to.equal(0);
    } finally {
      await server.stop();
    }
  });

  it('reads credentials from a file of the command line', async () => {
    const server = await startLibrary({}, { reflection: { version: 'v1' } });
    try {
      writeFileSync(join(place.folder, 'key'), 'secret-of-a-file');
      const { code, stderr } = await place.run([
        ...['import', 'grpc', `127.0.0.1:${server.port}`, '--module', 'library'],
        ...['--auth', 'bearer=file:key'],
      ]);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      const descriptor = readFileSync(join(place.folder, 'modules.d/library.yaml'), 'utf8');
      expect(descriptor).to.include('bearer: file:../key');
    } finally {
      await server.stop();
    }
  });

  const REJECTED: Readonly<
    Record<string, readonly [words: string[], code: number, message: string]>
  > = {
    'a file without an endpoint': [[SET], 2, '--endpoint'],
    'a .proto file that does not exist': [
      ['none.proto', '--endpoint', 'grpc://a:1'],
      2,
      "file 'none.proto' does not exist",
    ],
    'capabilities of another kind': [[SET, '--capabilities', 'all'], 2, 'each'],
    'a word that is no address': [['nothing'], 2, 'must be a file, host:port'],
    'a server that is down': [['127.0.0.1:1'], 1, 'ECONNREFUSED'],
  };
  for (const [title, [words, code, message]] of Object.entries(REJECTED)) {
    it(`rejects ${title}`, async () => {
      const result = await place.run(['import', 'grpc', ...words, '--module', 'library']);
      expect(result.code).to.equal(code);
      expect(result.stderr).to.include(message);
    });
  }
});
