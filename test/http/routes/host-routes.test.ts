import { expect } from 'chai';
import { headerValue, headerValues } from '../../../core/selftest/raw-http.js';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';

const READER = 'dev-service:ops:modgate.modules.read';
const ROUTES = [
  { method: 'GET', path: '/items', capability: 'crm.read' },
  { method: 'GET', path: '/broken', capability: 'crm.read' },
];
const UNKNOWN = [
  '/',
  '/x',
  '/livez/',
  '//livez',
  '/LIVEZ',
  '/livez/x',
  '/%6civez',
  '/x/../livez',
  '/./livez',
  '/livez;x',
  '/livez%2F',
  '/readyz/',
  '/modules/',
  '/modules/crm',
  '/modules/crm/',
  '/modules/crm/x/items',
  '/modules/crm/items',
  '/problems',
  '/favicon.ico',
  '/__proto__',
  '/%ff',
  '/%',
];

describe('host routes', () => {
  const setup = useHost((provider) => ({
    'crm.json': describeModule('crm', provider.url, ROUTES),
    'aaa.yaml': `module: acme/aaa\nprovider: { kind: http, config: { endpoints: ['${provider.url}'] } }\nmanifest: ./aaa/manifest.json\n`,
    'aaa/manifest.json': {
      protocol: 'modgate.manifest.v1',
      module_id: 'acme/aaa',
      capabilities: ['aaa.read'],
      http_routes: [{ method: 'GET', path: '/x', capability: 'aaa.read' }],
    },
    'refused.yaml': 'module: refused\nprovider: { kind: http, confg: {} }\n',
    'notes.txt': 'not a descriptor',
    'old.yaml.bak': 'not a descriptor',
    '.hidden.yaml': 'not a descriptor',
  }));
  const get = (target: string, as: string | null = null) => call(setup.host, { target, as });

  for (const target of ['/livez', '/readyz', '/livez?verbose', '/readyz?x=1']) {
    it(`answers 200 to ${target} without an actor`, async () => {
      expect((await get(target)).status).to.equal(200);
    });
  }

  it('answers HEAD where it answers GET', async () => {
    for (const target of ['/livez', '/readyz', '/problems/not_found']) {
      const response = await call(setup.host, { method: 'HEAD', target, as: null });
      expect(response.status, target).to.equal(200);
    }
  });

  it('answers 200 to /livez also with a bad token', async () => {
    expect((await get('/livez', 'nonsense')).status).to.equal(200);
  });

  for (const target of UNKNOWN) {
    it(`answers 404 to ${target}`, async () => {
      expectProblem(await get(target), 404);
    });
  }

  it('answers 404 to an unknown path by any method', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      expectProblem(await call(setup.host, { method, target: '/x', as: null }), 404);
    }
  });

  it('answers 404 to OPTIONS *', async () => {
    expectProblem(await call(setup.host, { method: 'OPTIONS', target: '*', as: null }), 404);
  });

  for (const target of ['/livez', '/readyz', '/modules', '/problems/not_found']) {
    it(`answers 405 with allow to another method of ${target}`, async () => {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const response = await call(setup.host, { method, target });
        expectProblem(response, 405);
        const allowed = headerValue(response.headers, 'allow')?.split(/ *, */) ?? [];
        expect(allowed).to.include('GET');
        expect(allowed).not.to.include(method);
      }
    });
  }

  it('answers 405 to a large body', async () => {
    const body = Buffer.alloc(2_000_000, 'x');
    const request = { method: 'POST', target: '/livez', headers: [JSON_TYPE], body };
    expectProblem(await call(setup.host, request), 405);
  });

  it('sends no CORS headers', async () => {
    const headers = [['origin', 'https://evil.example']] as const;
    for (const target of ['/livez', '/modules', '/nothing', '/modules/crm/http/items']) {
      const response = await call(setup.host, { target, headers });
      expect(headerValues(response.headers, 'access-control-allow-origin')).to.deep.equal([]);
      expect(headerValues(response.headers, 'x-powered-by')).to.deep.equal([]);
    }
  });

  describe('GET /modules', () => {
    const list = async () => parseJson(await get('/modules', READER));

    it('answers 401 without an actor', async () => {
      expectProblem(await get('/modules'), 401);
      expectProblem(await get('/modules', 'nonsense'), 401);
    });

    for (const as of [
      'dev-service:ops',
      'dev-service:ops:modgate.modules',
      'dev-service:ops:modgate.*',
      'dev-service:ops:MODGATE.MODULES.READ',
      'dev-service:ops:console.admin',
      'dev-user:ann:console.admin',
    ]) {
      it(`answers 403 to ${as}`, async () => {
        expectProblem(await get('/modules', as), 403);
      });
    }

    it('answers 200 to callers with the scope', async () => {
      for (const as of [READER, 'dev-user:ann:console.admin,modgate.modules.read']) {
        expect((await get('/modules', as)).status, as).to.equal(200);
      }
    });

    it('shows every descriptor, sorted by name', async () => {
      const { modules } = (await list()) as { modules: Record<string, unknown>[] };
      expect(modules.map(({ name }) => name)).to.deep.equal(['acme/aaa', 'crm', 'refused']);
      expect(modules.map(({ state }) => state)).to.deep.equal(['live', 'live', 'refused']);
      expect(modules.map(({ file }) => file)).to.deep.equal([
        'aaa.yaml',
        'crm.json',
        'refused.yaml',
      ]);
    });

    it('shows digest, since and counts of a live module', async () => {
      const { modules } = (await list()) as { modules: Record<string, unknown>[] };
      const crm = modules.find(({ name }) => name === 'crm');
      expect(crm?.['digest']).to.match(/^sha256:[0-9a-f]{64}$/);
      expect(crm?.['module_id']).to.equal('crm');
      expect(Date.parse(String(crm?.['since']))).to.be.within(Date.now() - 60_000, Date.now());
      expect(crm?.['counts']).to.include.keys('calls', 'failed', 'in_flight', 'queued');
      expect(crm?.['reason']).to.equal(null);
    });

    it('shows why a module is rejected, with a hint', async () => {
      const { modules } = (await list()) as { modules: Record<string, unknown>[] };
      const refused = modules.find(({ name }) => name === 'refused');
      expect(refused?.['reason']).to.match(/confg/);
      expect(refused?.['hint']).to.match(/config/);
    });

    it('shows the files that are not descriptors, with a reason', async () => {
      const { ignored } = (await list()) as { ignored: { file: string; reason: string }[] };
      expect(ignored.map(({ file }) => file)).to.include.members(['old.yaml.bak', '.hidden.yaml']);
      expect(ignored.map(({ file }) => file)).to.not.include('.status');
      for (const { reason } of ignored) expect(reason).to.be.a('string').and.not.equal('');
    });

    it('counts calls and failures', async () => {
      const counts = async () => {
        const { modules } = (await list()) as { modules: Record<string, unknown>[] };
        return modules.find(({ name }) => name === 'crm')?.['counts'] as Record<string, number>;
      };
      const before = await counts();
      await get('/modules/crm/http/items', 'dev-system:root');
      setup.provider.answer({ status: 500 });
      await get('/modules/crm/http/broken', 'dev-system:root');
      const after = await counts();
      expect((after['calls'] ?? 0) - (before['calls'] ?? 0)).to.equal(2);
      expect((after['failed'] ?? 0) - (before['failed'] ?? 0)).to.equal(1);
      expect(after['in_flight']).to.equal(0);
    });
  });

  it('serves a module whose manifest is a file beside the descriptor', async () => {
    const response = await get('/modules/acme%2Faaa/http/x', 'dev-system:root');
    expect(response.status).to.equal(200);
  });

  it('answers 404 to a module that was rejected', async () => {
    expectProblem(await get('/modules/refused/http/x', 'dev-system:root'), 404);
  });
});

describe('GET /metrics of a host that listens on loopback in production', () => {
  const setup = useHost(() => ({}), { dev: false, tokens: { tokens: [] } });
  const read = (host: string) =>
    call(setup.host, { target: '/metrics', as: null, headers: [['host', host]] });

  it('needs no credentials under a loopback name', async () => {
    for (const host of ['localhost', '127.0.0.1:3000', '[::1]']) {
      expect((await read(host)).status, host).to.equal(200);
    }
  });

  it('needs credentials under any other name', async () => {
    for (const host of ['evil.example', '127.0.0.1.evil.example', '10.0.0.1']) {
      expectProblem(await read(host), 401);
    }
  });
});
