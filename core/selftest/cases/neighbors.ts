import type { AttackCase, Verdict } from '../attack-case.js';
import { sendOnce } from '../expectations.js';
import { RawConnection } from '../raw-http.js';
import { craftRequest } from '../request-bytes.js';
import { requireOwn, type Scene } from '../scene.js';

/** More than the failures that open the circuit breaker of a whole module. */
const FAILURES = 40;
/** More than the buffers of a connection hold. */
const FLOOD_BYTES = 48 * 1024 * 1024;
const FLOOD_HEADER_LENGTH = 15_000;
/** Requests of another client meanwhile. */
const OTHERS = 10;
const TOKENS = 20;

export const NEIGHBOR_CASES: readonly AttackCase[] = [
  {
    ...describe('breaker', 'a route that always fails leaves the other routes of its module open'),
    attack: async (scene) => {
      const base = '/modules/fragile/http';
      for (let count = 0; count < FAILURES; count += 1) {
        const failure = await expectStatus(scene, `${base}/answers/error-page`, 502);
        if (failure !== null) return failure;
      }
      return expectStatus(scene, `${base}/items`, 200);
    },
  },
  {
    ...describe('flood', 'pipelined requests are not read while one of them is unanswered'),
    attack: async (scene) => {
      const connection = await RawConnection.open(scene.address.port, scene.address.host);
      try {
        const padding = [['x-padding', 'a'.repeat(FLOOD_HEADER_LENGTH)]] as const;
        const request = craftRequest(scene, { headers: padding });
        connection.write(craftRequest(scene, { target: `${scene.base}/answers/hold` }));
        connection.write(Buffer.alloc(FLOOD_BYTES, request));
        for (let count = 0; count < OTHERS; count += 1) {
          const failure = await expectStatus(scene, scene.base + scene.route, 200);
          if (failure !== null) return failure;
        }
        return connection.unsentBytes > 0 ? null : 'the host has read all of the requests';
      } finally {
        connection.destroy();
      }
    },
  },
  sendTokens(
    'introspection-format',
    'random tokens of another format do not reach the issuer',
    (index) => `random-${index}`,
    0,
  ),
  sendTokens('introspection-repeat', 'a rejected token reaches the issuer once', () => 'iss_x', 1),
];

/** Sends invalid tokens. Expects 401 for each, and this number of requests at the issuer at most. */
function sendTokens(
  name: string,
  title: string,
  tokenOf: (index: number) => string,
  maxRequests: number,
): AttackCase {
  return {
    ...describe(name, title),
    attack: async (scene) => {
      const { introspection } = requireOwn(scene);
      const before = introspection.requests.length;
      for (let index = 0; index < TOKENS; index += 1) {
        const failure = await expectStatus(scene, scene.base + scene.route, 401, tokenOf(index));
        if (failure !== null) return failure;
      }
      const count = introspection.requests.length - before;
      return count <= maxRequests ? null : `the issuer received ${count} requests`;
    },
  };
}

async function expectStatus(
  scene: Scene,
  target: string,
  status: number,
  token: string | null = scene.token,
): Promise<Verdict> {
  const response = await sendOnce(scene, craftRequest(scene, { target, token }));
  if (typeof response === 'string') return `${target}: ${response}`;
  return response.status === status
    ? null
    : `${target} responded with ${response.status} instead of ${status}`;
}

function describe(name: string, title: string) {
  return {
    id: `neighbors-${name}`,
    class: 'neighbors' as const,
    title,
    needs: 'own' as const,
  };
}
