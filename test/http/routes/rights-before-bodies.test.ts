import { expect } from 'chai';
import {
  HOST_ROUTES,
  type HostRouteName,
  LISTED_ROUTES,
} from '../../../core/http/routes/host-route-list.js';
import {
  headerValue,
  RawConnection,
  type ReceivedResponse,
} from '../../../core/selftest/raw-http.js';
import { crmDescriptor } from '../../support/bridge/crm.js';
import { call, JSON_TYPE } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { useHost } from '../../support/http/use-host.js';

/** How a request announces the body that it does not send. */
const FRAMINGS = { 'a length': 'content-length: 1000', chunks: 'transfer-encoding: chunked' };
/** Beyond the limit of every route, and not JSON, so that only the right can come first. */
const HOSTILE = ['content-length: 99999999', 'content-type: text/plain', 'content-encoding: gzip'];

const STRANGER = 'dev-service:stranger:another.scope';
const SYSTEM = 'dev-system:root';
const BRIDGE = '/modules/crm/http/console-bridge/crm.config';

interface Head {
  readonly method: string;
  readonly target: string;
  readonly as: string | null;
  /** How the body is announced. */
  readonly lines: readonly string[];
}

describe('rights before bodies', () => {
  const setup = useHost(({ url }) => ({ 'crm.json': crmDescriptor(url) }), {
    args: ['--surfaces', 'mcp,console,docs'],
    isDescribed: false,
  });

  /**
   * Sends a head and no body, and waits for the first response. A host that begins to read the
   * body sends 100 first.
   */
  async function announce({ method, target, as, lines }: Head): Promise<ReceivedResponse> {
    const connection = await RawConnection.open(setup.host.port);
    const host = `host: 127.0.0.1:${setup.host.port}`;
    const credentials = as === null ? [] : [`authorization: Bearer ${as}`];
    const hasType = lines.some((line) => line.startsWith('content-type'));
    const type = hasType ? [] : ['content-type: application/json'];
    const head = [host, ...credentials, ...type, 'expect: 100-continue', ...lines];
    try {
      connection.write(`${method} ${target} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`);
      return await connection.read({ toHead: method === 'HEAD' });
    } finally {
      connection.destroy();
    }
  }

  const fill = (path: string) =>
    path.replace(':code', 'not_found').replace(/[:*]\w+/, `sha256:${'0'.repeat(64)}`);

  for (const { name, method, path, right, isOpenOnLoopback } of LISTED_ROUTES) {
    const request = { method: method.toUpperCase(), target: fill(path) };
    const denied = right.kind === 'scope' || right.kind === 'surface';
    if (right.kind === 'public' || isOpenOnLoopback) continue;

    for (const [framing, line] of Object.entries(FRAMINGS)) {
      it(`answers 401 to ${name} without credentials and the body, announced by ${framing}`, async () => {
        expectProblem(await announce({ ...request, as: null, lines: [line] }), 401);
      });

      it(`reads nothing of ${name} without its right, announced by ${framing}`, async () => {
        const response = await announce({ ...request, as: STRANGER, lines: [line] });
        if (denied) expectProblem(response, 403);
        else expect(response.status).to.be.oneOf([200, 404]);
      });
    }

    if (denied) {
      it(`names the missing right of ${name} before anything about its body`, async () => {
        expectProblem(await announce({ ...request, as: STRANGER, lines: HOSTILE }), 403);
      });
    }
  }

  it('reads the body of a caller with the right', async () => {
    const readers = LISTED_ROUTES.filter(
      ({ method, right }) => method === 'post' && right.kind === 'scope',
    );
    expect(readers.map(({ name }) => name)).to.include.members(['POST /releases']);
    for (const { path, right } of readers) {
      const isForUsers = right.kind === 'scope' && right.isForUsers === true;
      const as = isForUsers && right.kind === 'scope' ? `dev-user:ann:${right.scope}` : SYSTEM;
      const head = { method: 'POST', target: fill(path), as, lines: [FRAMINGS['a length']] };
      expect((await announce(head)).status, path).to.equal(100);
    }
  });

  it('denies a decision of a service before the decision is read', async () => {
    for (const as of ['dev-service:a:modgate.approvals', SYSTEM]) {
      const head = { method: 'POST', target: '/approvals/a', as, lines: [FRAMINGS.chunks] };
      const { errors } = expectProblem(await announce(head), 403);
      expect(errors).to.deep.equal([{ field: 'caller', reason: 'not a user' }]);
    }
  });

  it('answers 405 to any other method of a route, without a body', async () => {
    for (const { path } of LISTED_ROUTES) {
      const has = (method: string) => `${method} ${path}` in HOST_ROUTES;
      const method = has('POST') ? 'DELETE' : 'POST';
      if (has(method)) continue;
      for (const as of [null, STRANGER, SYSTEM]) {
        const lines = [FRAMINGS.chunks];
        const response = await announce({ method, target: fill(path), as, lines });
        expectProblem(response, 405);
      }
    }
  });

  for (const [framing, line] of Object.entries(FRAMINGS)) {
    it(`decides about a route of a module first, with ${framing}`, async () => {
      const post = (path: string, as: string | null) =>
        announce({ method: 'POST', target: `/modules/crm/http${path}`, as, lines: [line] });
      expectProblem(await post('/console-bridge/crm.config', null), 401);
      expectProblem(await post('/console-bridge/crm.config', STRANGER), 403);
      expectProblem(await post('/nowhere', null), 401);
      expectProblem(await post('/nowhere', SYSTEM), 404);
    });
  }

  it('decides about the permission of the bridge before any fault of its body', async () => {
    expectProblem(
      await announce({ method: 'POST', target: BRIDGE, as: STRANGER, lines: HOSTILE }),
      403,
    );
    const lines = [FRAMINGS['a length']];
    const reading = await announce({ method: 'POST', target: BRIDGE, as: SYSTEM, lines });
    expect(reading.status).to.equal(100);
  });

  for (const [framing, line] of Object.entries(FRAMINGS)) {
    it(`reads nothing of a surface before its caller is known, with ${framing}`, async () => {
      const own = ['sec-fetch-site: same-origin', line];
      const other = ['sec-fetch-site: cross-site', line];
      const post = (target: string, as: string | null, lines: readonly string[]) =>
        announce({ method: 'POST', target, as, lines });
      for (const target of ['/mcp', '/mcp/crm']) {
        expect((await post(target, null, [line])).status).to.equal(401);
        expect((await post(target, STRANGER, [line])).status).to.equal(100);
      }
      for (const path of ['approvals/a', 'releases', 'modules/crm/http/items', 'nothing']) {
        expect((await post(`/console/api/${path}`, null, own)).status).to.equal(401);
        expect((await post(`/console/api/${path}`, null, other)).status).to.equal(403);
      }
      expect((await post('/console/api/session', null, other)).status).to.equal(403);
      for (const method of ['GET', 'POST', 'DELETE']) {
        const target = '/console/api/sessions/a';
        const of = (as: string | null) => announce({ method, target, as, lines: own });
        expect((await of('wrong')).status).to.equal(401);
        expect((await of(STRANGER)).status).to.equal(method === 'DELETE' ? 403 : 405);
      }
    });

    it(`reads nothing of a session without the scope of the path, with ${framing}`, async () => {
      const cookieOf = async (token: string) => {
        const response = await call(setup.host, {
          method: 'POST',
          target: '/console/api/session',
          as: null,
          headers: [JSON_TYPE, ['sec-fetch-site', 'same-origin']],
          body: Buffer.from(JSON.stringify({ token })),
        });
        expect(response.status, response.body.toString()).to.equal(204);
        return headerValue(response.headers, 'set-cookie')?.split(';', 1)[0] ?? '';
      };
      const post = (path: string, cookie: string) => {
        const lines = [line, 'sec-fetch-site: same-origin', `cookie: ${cookie}`];
        return announce({ method: 'POST', target: `/console/api/${path}`, as: null, lines });
      };
      const stranger = await cookieOf('dev-user:ann:another.scope');
      const person = await cookieOf('dev-user:ann:modgate.approvals,modgate.releases');
      for (const path of ['approvals/a', 'releases']) {
        expectProblem(await post(path, stranger), 403);
        expect((await post(path, person)).status, path).to.equal(100);
      }
    });
  }

  it('has no route whose right is not declared', () => {
    const names: readonly HostRouteName[] = LISTED_ROUTES.map(({ name }) => name);
    expect(new Set(names).size).to.equal(Object.keys(HOST_ROUTES).length);
  });
});
