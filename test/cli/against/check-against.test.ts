import { expect } from 'chai';
import { describeEntry, type FakeAnswer, startFakeHost } from '../../support/cli/fake-host.js';
import { createWorkplace } from '../../support/cli/run-in.js';
import { buildManifest, describeModule, type RouteOptions } from '../../support/http/modules.js';
import { startHost } from '../../support/start-host.js';
import { use, useEach } from '../../support/use.js';

const ENDPOINT = 'http://127.0.0.1:4100';
const READER = { MODGATE_TOKEN: 'dev-service:ops:modgate.modules.read' };
const READ = { method: 'GET', path: '/items/{id}', capability: 'crm.read' };
const WRITE = { method: 'PUT', path: '/items/{id}', capability: 'crm.write' };
const LIST = { method: 'GET', path: '/items', capability: 'crm.read' };

interface Facts {
  readonly method: string;
  readonly path: string;
}

interface Change {
  readonly module: string;
  readonly change: string;
  readonly detail: string | null;
  readonly capabilities: { readonly added: string[]; readonly removed: string[] };
  readonly permissions?: { readonly added: object[]; readonly removed: object[] };
  readonly routes: {
    readonly added: readonly Facts[];
    readonly removed: readonly (Facts & {
      calls_last_hour: number | null;
      calls_note: string | null;
    })[];
    readonly changed: readonly { readonly before: object; readonly after: object }[];
  };
}

interface Against {
  readonly url: string;
  readonly modules: readonly Change[];
  readonly unchanged: readonly string[];
}

describe('modgate check --against', () => {
  const place = useEach(createWorkplace);

  function drop(name: string, routes: readonly RouteOptions[], overrides: object = {}): void {
    place.write(
      `modules.d/${name.replace('/', '-')}.json`,
      describeModule(name, ENDPOINT, routes, overrides),
    );
  }

  async function ask(code: number, url: string, ...args: string[]): Promise<Against> {
    const ended = await place.run(['check', ...args, '--against', url, '--json'], READER);
    expect({ code: ended.code, stderr: ended.stderr }).to.deep.equal({ code, stderr: '' });
    return (JSON.parse(ended.stdout) as { against: Against }).against;
  }

  const compare = (url: string, ...args: string[]) => ask(0, url, ...args);
  /** The arguments for a folder with errors. */
  const compareBad = (url: string) => ask(1, url);

  describe('a running host', () => {
    const host = use(() => {
      const serve = (name: string, routes: readonly RouteOptions[]) =>
        describeModule(name, ENDPOINT, routes);
      return startHost({
        files: {
          'crm.json': serve('crm', [READ, WRITE]),
          'gone.json': serve('gone', [LIST]),
          'off.json': serve('off', [LIST]),
          'same.json': serve('same', [LIST]),
          'slow.json': serve('slow', [LIST]),
          'broken.json': serve('broken', [LIST]),
          'refused.yaml': 'module: refused\n',
        },
      });
    });

    it('lists what changes in the responses and bodies of a module', async () => {
      const responses = { mode: 'raw', expose_headers: ['etag'] };
      drop('same', [LIST], { responses });
      drop('crm', [READ, { ...WRITE, operation: { body: 'optional' } }]);
      const { modules } = await compare(host.url, 'modules.d/same.json');
      expect(modules).to.deep.include({
        ...{ module: 'same', change: 'changed', detail: null },
        ...{ capabilities: { added: [], removed: [] } },
        ...{ routes: { added: [], removed: [], changed: [] } },
        responses: { before: { mode: 'envelope', expose_headers: [] }, after: responses },
      });
      const text = await place.run(['check', '--against', host.url, 'modules.d'], READER);
      expect(text.stdout).to.include('      ~ responses envelope -> raw\n');
      expect(text.stdout).to.include('      + exposed header etag\n');
      expect(text.stdout).to.include("~ PUT /items/{id}: body the method's -> optional\n");
    });

    it('lists media types that newly pass as bytes, and who may send or read them', async () => {
      const types = { body_types: ['image/png', 'image/gif'], body_max_bytes: 5000 };
      drop('crm', [
        { ...READ, path: '/items/{item}', operation: { response_types: ['text/csv'] } },
        { ...WRITE, operation: { ...types, idempotency: 'idempotent' } },
      ]);
      drop('same', [{ ...LIST, operation: { stream: 'sse', stream_optional: true } }]);
      drop('slow', [{ ...LIST, operation: { response: 'bytes', danger_level: 'high' } }]);
      const { modules } = await compare(host.url);
      const changeOf = (name: string) => modules.find(({ module }) => module === name);
      expect(changeOf('crm')?.permissions).to.deep.equal({
        added: [
          { permission: 'crm.read', opens: 'responses of text/csv in GET /items/{item}' },
          { permission: 'crm.write', opens: 'bodies of image/png in PUT /items/{id}' },
          { permission: 'crm.write', opens: 'bodies of image/gif in PUT /items/{id}' },
        ],
        removed: [],
      });
      expect(changeOf('crm')?.routes.changed[1]).to.deep.equal({
        before: { ...WRITE, timeout_ms: null },
        after: {
          ...{ ...WRITE, timeout_ms: null, idempotency: 'idempotent' },
          ...{ body_types: ['image/gif', 'image/png'], body_max_bytes: 5000 },
        },
      });
      const { stdout } = await place.run(['check', '--against', host.url, 'modules.d'], READER);
      for (const line of [
        "PUT /items/{id}: body_types none listed -> image/gif, image/png, body_max_bytes the module's -> 5000, idempotency none -> idempotent",
        'GET /items: stream none -> sse, stream_optional false -> true',
        "GET /items: response JSON -> bytes, danger_level the method's -> high",
      ]) {
        expect(stdout).to.include(`      ~ ${line}\n`);
      }
      expect(stdout).to.include(
        '      + permission crm.read opens responses of */* in GET /items\n',
      );
    });

    it('lists each new origin that callers may be sent to', async () => {
      const redirects = ['module', 'https://files.example'];
      drop('same', [LIST], { responses: { mode: 'raw', redirects } });
      const { stdout } = await place.run(['check', '--against', host.url, 'modules.d'], READER);
      for (const target of redirects) expect(stdout).to.include(`      + redirects to ${target}\n`);
    });

    it('lists added, removed and changed parts of each module', async () => {
      const renamed = { ...READ, path: '/items/{item}', operation: { timeout_ms: 500 } };
      drop('crm', [{ ...renamed, capability: 'crm.items.read' }, LIST]);
      drop('off', [LIST], { enabled: false });
      drop('same', [LIST]);
      drop('slow', [LIST], { limits: { timeout_ms: 1000 } });
      drop('new', [LIST]);
      drop('later', [], { manifest: { from: 'provider' } });
      place.write('modules.d/broken.json', '{}');
      const { modules, unchanged, url } = await compareBad(host.url);
      expect(url).to.equal(host.url);
      expect(unchanged).to.deep.equal(['same']);
      expect(modules.map(({ module, change }) => `${module} ${change}`)).to.deep.equal([
        'broken unknown',
        'crm changed',
        'gone removed',
        'later added',
        'new added',
        'off removed',
        'slow changed',
      ]);
      const crm = modules.find(({ module }) => module === 'crm');
      expect(crm?.capabilities).to.deep.equal({
        added: ['crm.items.read'],
        removed: ['crm.write'],
      });
      expect(crm?.routes.added).to.deep.equal([{ ...LIST, timeout_ms: null }]);
      expect(crm?.routes.removed.map(({ method, path }) => `${method} ${path}`)).to.deep.equal([
        'PUT /items/{id}',
      ]);
      expect(crm?.routes.changed).to.deep.equal([
        {
          before: { ...READ, timeout_ms: null },
          after: {
            method: 'GET',
            path: '/items/{item}',
            capability: 'crm.items.read',
            timeout_ms: 500,
          },
        },
      ]);
      const slow = modules.find(({ module }) => module === 'slow');
      expect(slow?.detail).to.equal(
        'the routes and capabilities are the same, but other settings differ',
      );
      expect(slow?.routes).to.deep.equal({ added: [], removed: [], changed: [] });
    });

    it('lists what permissions open besides routes', async () => {
      const base = buildManifest('crm', [READ, WRITE]) as object;
      const field = { service: 'crm', key: 'size', type: { kind: 'int' } };
      place.write('manifest.json', {
        ...base,
        admin: { entities: [{ name: 'items', read_capability: 'crm.read', list_path: '/list' }] },
        config: { read_capability: 'crm.read', write_capability: 'crm.write', fields: [field] },
      });
      const { modules } = await compare(host.url, 'manifest.json');
      expect(modules[0]?.permissions).to.deep.equal({
        added: [
          { permission: 'crm.read', opens: 'entity items' },
          { permission: 'crm.read', opens: 'configuration (read)' },
          { permission: 'crm.write', opens: 'configuration (read)' },
          { permission: 'crm.write', opens: 'configuration (write)' },
        ],
        removed: [],
      });
      const text = await place.run(['check', '--against', host.url, 'manifest.json'], READER);
      expect(text.stdout).to.include('      + permission crm.write opens configuration (write)\n');
    });

    it('counts the calls of a removed route with every outcome', async () => {
      const headers = { authorization: 'Bearer dev-system:root' };
      for (const method of ['GET', 'HEAD']) {
        await fetch(`${host.url}/modules/gone/http/items`, { method, headers });
      }
      drop('crm', [READ, WRITE]);
      const token = 'dev-service:ops:modgate.modules.read,modgate.calls.read';
      const args = ['check', '--against', host.url, '--json', '--token', token];
      const { stdout } = await place.run(args);
      const { modules } = (JSON.parse(stdout) as { against: Against }).against;
      const gone = modules.find(({ module }) => module === 'gone');
      expect(gone?.routes.removed).to.deep.equal([
        { ...LIST, timeout_ms: null, calls_last_hour: 2, calls_note: null },
      ]);
    });

    it('compares a single file with its module only', async () => {
      drop('crm', [READ]);
      const { modules, unchanged } = await compare(host.url, 'modules.d/crm.json');
      expect(modules.map(({ module, change }) => [module, change])).to.deep.equal([
        ['crm', 'changed'],
      ]);
      expect(unchanged).to.deep.equal([]);
    });

    it('compares a manifest with every module of its id', async () => {
      place.write('manifest.json', buildManifest('crm', [READ, WRITE, LIST]));
      const { modules } = await compare(host.url, 'manifest.json');
      expect(modules.map(({ module }) => module)).to.deep.equal(['crm']);
      expect(modules[0]?.routes.added.map(({ path }) => path)).to.deep.equal(['/items']);
      place.write('manifest.json', buildManifest('crm', [READ, WRITE]));
      expect((await compare(host.url, 'manifest.json')).unchanged).to.deep.equal(['crm']);
    });

    it('prints text', async () => {
      drop('crm', [{ ...READ, capability: 'crm.all' }]);
      drop('new', [LIST]);
      for (const name of ['off', 'same', 'slow', 'broken', 'gone']) drop(name, [LIST]);
      const { code, stdout } = await place.run(['check', '--against', host.url], READER);
      expect(code).to.equal(0);
      const text = stdout.slice(stdout.indexOf('against'));
      const calls = /calls in the last hour unknown: [^\n]+/g;
      expect(text.replace(calls, '…')).to.equal(
        [
          `against ${host.url}:`,
          '  ~ crm changed',
          '      - PUT /items/{id} (crm.write), …',
          '      ~ GET /items/{id}: capability crm.read -> crm.all',
          '      - capability crm.read',
          '      - capability crm.write',
          '      + capability crm.all',
          '  + new added',
          '      + GET /items (crm.read)',
          '      + capability crm.read',
          '  = 5 modules unchanged',
          '',
        ].join('\n'),
      );
    });

    it('exits with 1 and one line when the host rejects the request, after printing the report', async () => {
      drop('crm', [READ]);
      const { code, stdout, stderr } = await place.run(['check', '--against', host.url]);
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '1 file, 0 errors, 0 warnings\n' });
      expect(stderr).to.match(/^modgate: the host at \S+ responded with 401: [^\n]+\n$/);
    });
  });

  describe('a host with call records', () => {
    const DIGEST = `sha256:${'a'.repeat(64)}`;
    let pages: readonly FakeAnswer[] = [];

    const fake = use(() =>
      startFakeHost(({ pathname, searchParams }) => {
        if (pathname === '/modules')
          return { body: { modules: [describeEntry('crm')], ignored: [] } };
        if (pathname === '/calls')
          return pages[Number(searchParams.get('cursor') ?? 0)] ?? { body: 'x' };
        const manifest = buildManifest('crm', [READ, WRITE, LIST]);
        return { body: { manifests: [{ name: 'crm', digest: DIGEST, manifest }] } };
      }),
    );

    async function removedRoutes() {
      drop('crm', [READ]);
      const [change] = (await compare(fake.url)).modules;
      return change?.routes.removed.map(({ method, path, calls_last_hour, calls_note }) => {
        return [`${method} ${path}`, calls_last_hour, calls_note];
      });
    }

    it('counts the calls of removed routes on all pages, HEAD as GET', async () => {
      const calls = (method: string, path: string, count: number) =>
        Array.from({ length: count }, () => ({ method, route: path, status: 200 }));
      pages = [
        {
          body: {
            calls: [...calls('PUT', WRITE.path, 2), ...calls('GET', READ.path, 9)],
            next_cursor: '1',
          },
        },
        {
          body: {
            calls: [...calls('PUT', WRITE.path, 1), ...calls('HEAD', LIST.path, 4)],
            next_cursor: null,
          },
        },
      ];
      const before = Date.now();
      expect(await removedRoutes()).to.deep.equal([
        ['PUT /items/{id}', 3, null],
        ['GET /items', 4, null],
      ]);
      const [first = ''] = fake.requests.filter((request) => request.includes('/calls'));
      const query = new URL(first.replace('GET ', ''), fake.url).searchParams;
      expect(query.get('module')).to.equal('crm');
      const sinceAgo = before - Date.parse(query.get('since') ?? '');
      expect(sinceAgo).to.be.within(3_600_000 - 15_000, 3_600_000 + 1000);
      const { stdout } = await place.run(['check', '--against', fake.url], READER);
      expect(stdout).to.include('- PUT /items/{id} (crm.write), called 3 times in the last hour\n');
    });

    it('reports a route that was never called', async () => {
      pages = [{ body: { calls: [], next_cursor: null } }];
      expect(await removedRoutes()).to.deep.equal([
        ['PUT /items/{id}', 0, null],
        ['GET /items', 0, null],
      ]);
      const { stdout } = await place.run(['check', '--against', fake.url], READER);
      expect(stdout).to.include('- GET /items (crm.read), never called in the last hour\n');
    });

    it('reports the limit of counted calls', async () => {
      const page = Array.from({ length: 1000 }, () => ({ method: 'PUT', route: WRITE.path }));
      pages = Array.from({ length: 101 }, (_, index) => {
        return { body: { calls: page, next_cursor: String(index + 1) } };
      });
      expect((await removedRoutes())?.[0]).to.deep.equal([
        'PUT /items/{id}',
        100_000,
        'at least: only the last 100000 calls were counted',
      ]);
    });

    const PROBLEM = { detail: 'no', errors: [], status: 0 };
    const UNKNOWN: Readonly<Record<number, string>> = {
      404: 'unknown: the host keeps no call records',
      403: 'unknown: the token lacks the scope modgate.calls.read',
      503: 'unknown: GET /calls returned 503',
    };
    for (const [status, note] of Object.entries(UNKNOWN)) {
      it(`reports why the calls are unknown at a ${status}`, async () => {
        pages = [{ status: Number(status), body: { ...PROBLEM, status: Number(status) } }];
        expect(await removedRoutes()).to.deep.equal([
          ['PUT /items/{id}', null, note],
          ['GET /items', null, note],
        ]);
      });
    }
  });

  it('exits with 1 where nothing or another server listens', async () => {
    drop('crm', [READ]);
    const other = await startFakeHost(() => ({ body: '<html>' }));
    const { code, stderr } = await place.run(['check', '--against', other.url], READER);
    await other.close();
    expect({ code, stderr }).to.deep.equal({
      code: 1,
      stderr: `modgate: ${other.url} is not a modgate host: unexpected response\n`,
    });
    const gone = await place.run(['check', '--against', other.url], READER);
    expect({ code: gone.code, stderr: gone.stderr }).to.deep.equal({
      code: 1,
      stderr: `modgate: the host at ${other.url} cannot be reached: nothing listens there\n`,
    });
  });
});
