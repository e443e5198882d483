import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { HOST_PATHS } from '../../../core/http/routes/host-route-list.js';
import {
  headerValue,
  RawConnection,
  type ReceivedResponse,
} from '../../../core/selftest/raw-http.js';
import { signIn } from '../../support/console/console-client.js';
import { call, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { useHost } from '../../support/http/use-host.js';

const PLUGINS = new URL('../../../plugins/', import.meta.url);
/** Every surface that is shipped, so that a new one is covered without being named. */
const SURFACES = readdirSync(PLUGINS, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? listSurfaces(entry.name) : [],
);

const BODY_METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
/** What the head decides of a method with a body. */
const HEAD_STATUSES = [401, 403, 404, 405] as const;
const PATHS: readonly string[] = [
  '',
  '/',
  '/nothing',
  '/nothing/below',
  '/assets/nothing.js',
  '/api',
  '/api/events',
  '/api/host',
  '/api/nothing',
  '/api/oidc/callback',
  '/api/oidc/start',
  '/api/samples',
  '/api/session',
  '/api/session/developer',
  '/api/sessions',
  '/api/sessions/a',
  '/api/sign-in',
  ...HOST_PATHS.map((path) => `/api${path.replace(/[:*]\w+/, 'a')}`),
];

const SCOPES = 'modgate.approvals,modgate.releases,modgate.sessions,modgate.modules.read';
/** The token of each caller. */
const CALLERS: Readonly<Record<string, string | null>> = {
  'a caller without credentials': null,
  'a caller without scopes': 'dev-user:stranger',
  'a service with scopes': `dev-service:robot:${SCOPES}`,
  'a user with scopes': `dev-user:ann:${SCOPES}`,
};
const CHUNKED = 'transfer-encoding: chunked';

function listSurfaces(plugin: string): readonly string[] {
  try {
    const text = readFileSync(new URL(`${plugin}/plugin.json`, PLUGINS), 'utf8');
    return (JSON.parse(text) as { surfaces?: string[] }).surfaces ?? [];
  } catch {
    return [];
  }
}

describe('the head of a request to a surface', () => {
  const setup = useHost(() => ({}), { args: ['--surfaces', SURFACES.join()], isDescribed: false });

  const listPrefixes = async () => {
    const { surfaces } = parseJson(await call(setup.host, { target: '/plugins' })) as {
      surfaces: { name: string; prefix: string; state: string }[];
    };
    expect(surfaces.map(({ name }) => name).sort()).to.deep.equal([...SURFACES].sort());
    for (const { name, state } of surfaces) expect(state, name).to.equal('open');
    return surfaces.map(({ prefix }) => prefix);
  };

  const exchange = (connection: RawConnection, line: string, lines: readonly string[]) => {
    const head = [
      `${line} HTTP/1.1`,
      `host: 127.0.0.1:${setup.host.port}`,
      'sec-fetch-site: same-origin',
      'content-type: application/json',
      ...lines,
    ];
    connection.write(`${head.join('\r\n')}\r\n\r\n`);
    return connection.read({ toHead: line.startsWith('HEAD') });
  };

  /** Sends a head, and reads the first response to it. A host that reads the body sends 100 first. */
  const send = async (line: string, lines: readonly string[]): Promise<ReceivedResponse> => {
    const connection = await RawConnection.open(setup.host.port);
    try {
      return await exchange(connection, line, lines);
    } finally {
      connection.destroy();
    }
  };

  let kept: RawConnection | null = null;
  after(() => kept?.destroy());

  /** Sends a whole request, on the connection of the one before if that is still open. */
  const sendWhole = async (line: string, lines: readonly string[]): Promise<ReceivedResponse> => {
    kept ??= await RawConnection.open(setup.host.port);
    const response = await exchange(kept, line, [...lines, 'content-length: 0']);
    if (headerValue(response.headers, 'connection') === 'close') {
      kept.destroy();
      kept = null;
    }
    return response;
  };

  const listCredentials = async (token: string | null) =>
    token === null
      ? []
      : [`authorization: Bearer ${token}`, `cookie: ${await signIn(setup.host, token)}`];

  for (const [title, token] of Object.entries(CALLERS)) {
    it(`decides without the body, for ${title}`, async () => {
      for (const prefix of await listPrefixes()) {
        let credentials = await listCredentials(token);
        for (const path of PATHS) {
          const accepted: string[] = [];
          let allow: string | null = null;
          for (const method of BODY_METHODS) {
            const line = `${method} ${prefix}${path}`;
            const head = [...credentials, CHUNKED, 'expect: 100-continue'];
            const first = await send(line, head);
            const { status, headers } = await sendWhole(line, credentials);
            const isDecided = HEAD_STATUSES.some((decided) => decided === status);
            if (isDecided) expect(first.status, line).to.be.oneOf([400, status]);
            else accepted.push(method);
            if (status === 405) allow = headerValue(headers, 'allow') ?? '';
            // A sign-in or a sign-out.
            if (status < 300) credentials = await listCredentials(token);
          }
          // No path has all methods.
          expect(accepted, prefix + path).to.have.length.below(BODY_METHODS.length);
          if (allow === null) continue;
          expect(allow.split(', '), prefix + path).to.include.members(accepted);
        }
      }
    });

    it(`rejects a body that no request has, for ${title}`, async () => {
      for (const prefix of await listPrefixes()) {
        const credentials = await listCredentials(token);
        for (const line of PATHS.flatMap((path) =>
          ['GET', 'HEAD'].map((m) => `${m} ${prefix}${path}`),
        )) {
          for (const framing of [CHUNKED, 'content-length: 1']) {
            const { status } = await send(line, [...credentials, framing, 'expect: 100-continue']);
            expect(status, line).to.be.oneOf([400, ...HEAD_STATUSES]);
          }
        }
      }
    });
  }

  it('answers while an endless body arrives', async () => {
    for (const prefix of await listPrefixes()) {
      for (const path of ['', '/nothing']) {
        const connection = await RawConnection.open(setup.host.port);
        try {
          const head = [`POST ${prefix}${path} HTTP/1.1`, `host: 127.0.0.1:${setup.host.port}`];
          connection.write(`${[...head, CHUNKED].join('\r\n')}\r\n\r\n4000\r\n`);
          connection.write('a'.repeat(0x1000));
          const response = await connection.read();
          expect(response.status, prefix + path).to.be.oneOf(HEAD_STATUSES);
        } finally {
          connection.destroy();
        }
      }
    }
  });

  it('names the methods of a page, and the body that it does not have', async () => {
    const post = await send('POST /console/modules', [CHUNKED, 'expect: 100-continue']);
    expectProblem(post, 405);
    expect(headerValue(post.headers, 'allow')).to.equal('GET, HEAD');
    for (const target of ['/console', '/docs']) {
      const { errors } = expectProblem(await send(`GET ${target}`, [CHUNKED]), 400);
      expect(errors).to.deep.equal([{ field: 'body', reason: 'not expected' }]);
      expect((await send(`GET ${target}`, ['content-length: 0'])).status).to.equal(200);
    }
  });
});
