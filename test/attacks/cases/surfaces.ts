import { withConnection } from '../../../core/selftest/expectations.js';
import { headerValue, type RawHeader } from '../../../core/selftest/raw-http.js';
import type { Attack, CraftedRequest, Verdict } from '../attack.js';
import { craftRequest } from '../expectations.js';
import type { Scene } from '../scene.js';

const DEADLINE_MS = 5000;
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** A body without an end, of which nothing is sent before the host asks for it. */
const ENDLESS: readonly RawHeader[] = [
  ['sec-fetch-site', 'same-origin'],
  ['content-type', 'application/json'],
  ['transfer-encoding', 'chunked'],
  ['expect', '100-continue'],
];

/** The methods of each surface that have a body. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  console: [],
  docs: [],
  mcp: ['POST'],
};

/** Requests whose rejection needs no body, with its status. */
const REJECTED: Readonly<Record<string, readonly [title: string, CraftedRequest, status: number]>> =
  {
    'docs-path': ['a path that the docs do not have', { target: '/docs/nothing' }, 404],
    'mcp-path': ['a path that agents do not have', { target: '/mcp/shop/nothing' }, 404],
    'mcp-anonymous': ['a message without credentials', { target: '/mcp', token: null }, 401],
    'console-anonymous': [
      'a call through the console without a session',
      { target: '/console/api/modules/shop/http/items', token: null },
      401,
    ],
  };

/** The head of a request to a surface decides these, so that no body is read for them. */
export const SURFACE_CASES: readonly Attack[] = [
  ...Object.entries(ALLOWED).map(
    ([name, allowed]): Attack => ({
      id: `admin-surface-${name}`,
      title: `a wrong method of /${name}, with an endless body`,
      attack: async (scene) => {
        for (const method of METHODS.filter((wrong) => !allowed.includes(wrong))) {
          const verdict = await expectDecided(scene, { method, target: `/${name}` }, 405);
          if (verdict !== null) return `${method} ${verdict}`;
        }
        return null;
      },
    }),
  ),
  ...Object.entries(REJECTED).map(
    ([name, [title, request, status]]): Attack => ({
      id: `oversize-surface-${name}`,
      title: `${title}, with an endless body`,
      attack: (scene) => expectDecided(scene, { method: 'POST', ...request }, status),
    }),
  ),
];

/** Expects the status as the first response: a host that reads the body sends 100, or waits for it. */
async function expectDecided(
  scene: Scene,
  request: CraftedRequest,
  status: number,
): Promise<Verdict> {
  return withConnection(scene, async (connection) => {
    connection.write(craftRequest(scene, { ...request, headers: ENDLESS }));
    const first = await connection.read({ deadlineMs: DEADLINE_MS }).catch(() => null);
    if (first === null) return 'got no response before its body ended';
    if (first.status !== status) return `got ${first.status} instead of ${status}`;
    const allow = headerValue(first.headers, 'allow')?.split(', ') ?? [];
    const isNamed = status !== 405 || (allow.length > 0 && !allow.includes(`${request.method}`));
    return isNamed ? null : `got the header allow: ${allow}`;
  });
}
