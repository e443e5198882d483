import { setTimeout as pause } from 'node:timers/promises';
import { AttackFailure, withConnection } from '../../../core/selftest/expectations.js';
import { RawConnection } from '../../../core/selftest/raw-http.js';
import type { Attack, Verdict } from '../attack.js';
import { craftRequest, expectStatus, sendOnce } from '../expectations.js';
import type { Scene } from '../scene.js';
import { signNeighbor } from '../servers/signed-tokens.js';

const HELD = 'the host holds all responses';
/** More than the failures that open the circuit breaker of a whole module. */
const FAILURES = 40;
/** More than the buffers of a connection hold. */
const FLOOD_BYTES = 48 * 1024 * 1024;
const FLOOD_HEADER_LENGTH = 15_000;
/** The number of concurrent requests of another client. */
const OTHERS = 10;
const TOKENS = 20;
/** Together these responses of 12 MiB exceed the default limit of unread bytes of a caller. */
const UNREAD = 5;
/** The maximum number of calls until the host has received the responses. */
const UNREAD_ATTEMPTS = 50;
/** The host must stay at its limit for longer than it takes to send the responses. */
const UNREAD_MS = 1500;

/** Each item is checked 500 times, which would block an event loop for a second. */
export const COSTLY_SCHEMA = {
  items: { allOf: Array.from({ length: 500 }, () => ({ type: 'number' })) },
};
const COSTLY_BODY = `[${'1,'.repeat(32_000)}1]`;
const COSTLY_CHECKS = 4;
/** More than a host could serve before the bodies arrive and between the checks. */
const COSTLY_NEIGHBORS = 50;

export const NEIGHBOR_CASES: readonly Attack[] = [
  {
    id: 'neighbors-breaker',
    title: 'a route that always fails leaves the other routes of its module open',
    attack: async (scene) => {
      const base = '/modules/fragile/http';
      for (let count = 0; count < FAILURES; count += 1) {
        await expectStatus(scene, `${base}/answers/error-page`, 502);
      }
      return expectStatus(scene, `${base}/items`, 200);
    },
  },
  {
    id: 'neighbors-flood',
    title: 'pipelined requests are not read while one of them is unanswered',
    attack: (scene) =>
      withConnection(scene, async (connection) => {
        const padding = [['x-padding', 'a'.repeat(FLOOD_HEADER_LENGTH)]] as const;
        const request = craftRequest(scene, { headers: padding });
        connection.write(craftRequest(scene, { target: `${scene.base}/answers/hold` }));
        connection.write(Buffer.alloc(FLOOD_BYTES, request));
        for (let count = 0; count < OTHERS; count += 1) {
          await expectStatus(scene, scene.base + scene.route, 200);
        }
        return connection.unsentBytes > 0 ? null : 'the host has read all of the requests';
      }),
  },
  {
    id: 'neighbors-unread',
    title: 'a caller that leaves responses unread gets no more, and others are served',
    attack: async (scene) => {
      const large = craftRequest(scene, { target: '/modules/desk/http/answers/large' });
      const connections = await Promise.all(
        Array.from({ length: UNREAD }, () => RawConnection.to(scene.address)),
      );
      try {
        for (const connection of connections) {
          connection.pause();
          connection.write(large);
        }
        const failure = await expectOverload(scene, large);
        const token = signNeighbor(scene.issuer);
        return failure ?? (await expectStatus(scene, scene.base + scene.route, 200, token));
      } finally {
        for (const connection of connections) connection.destroy();
      }
    },
  },
  {
    id: 'neighbors-schema',
    title: 'bodies that are costly to check by a schema do not delay other callers',
    attack: async (scene) => {
      const costly = craftRequest(scene, { method: 'POST', path: '/costly', body: COSTLY_BODY });
      const token = signNeighbor(scene.issuer);
      let isOver = false;
      // On a busy machine a check may take longer than the deadline of a response.
      const checks = Promise.allSettled(
        Array.from({ length: COSTLY_CHECKS }, () => sendOnce(scene, costly)),
      ).then(() => {
        isOver = true;
      });
      for (let count = 0; count < COSTLY_NEIGHBORS; count += 1) {
        await expectStatus(scene, scene.base + scene.route, 200, token);
      }
      const wasOver = isOver;
      await checks;
      return wasOver ? 'another caller waited until the checks had ended' : null;
    },
  },
  sendTokens(
    'introspection-format',
    'random tokens of another format do not reach the issuer',
    ({ mark }, index) => `random-${mark}-${index}`,
    0,
  ),
  sendTokens(
    'introspection-repeat',
    'a rejected token reaches the issuer once',
    ({ mark }) => `iss_${mark}`,
    1,
  ),
];

/** Sends invalid tokens. Expects 401 for each, and at most this many requests at the issuer. */
function sendTokens(
  name: string,
  title: string,
  tokenOf: (scene: Scene, index: number) => string,
  maxRequests: number,
): Attack {
  return {
    id: `neighbors-${name}`,
    title,
    attack: async (scene) => {
      for (let index = 0; index < TOKENS; index += 1) {
        await expectStatus(scene, scene.base + scene.route, 401, tokenOf(scene, index));
      }
      const count = scene.introspection.requests.filter(({ body }) =>
        body.includes(scene.mark),
      ).length;
      return count <= maxRequests ? null : `the issuer received ${count} requests`;
    },
  };
}

/** Repeats the request until its response exceeds the budget of the caller, and once more later. */
async function expectOverload(scene: Scene, bytes: Buffer): Promise<Verdict> {
  for (let attempt = 0; attempt < UNREAD_ATTEMPTS; attempt += 1) {
    if (!(await isOverloaded(scene, bytes))) continue;
    await pause(UNREAD_MS);
    return (await isOverloaded(scene, bytes)) ? null : HELD;
  }
  return HELD;
}

async function isOverloaded(scene: Scene, bytes: Buffer): Promise<boolean> {
  const { status, body } = await sendOnce(scene, bytes);
  if (status === 502 && body.includes('overloaded')) return true;
  if (status === 200) return false;
  throw new AttackFailure(`responded with ${status} instead of 200`);
}
