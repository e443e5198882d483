import { setTimeout as pause } from 'node:timers/promises';
import {
  AttackFailure,
  expectNoSecrets,
  expectRejected as expectProblem,
  sendOnce as sendBytes,
} from '../../core/selftest/expectations.js';
import type { ReceivedResponse } from '../../core/selftest/raw-http.js';
import { craftRequest as craftBytes } from '../../core/selftest/request-bytes.js';
import type { CraftedRequest, ForwardedAttack, Sent, Verdict } from './attack.js';
import { listReceived, type Scene } from './scene.js';

/** Far more than a host with a limit admits at once. */
const UNLIMITED_REQUESTS = 100;

/** Creates a well-formed request, except for the given parts. */
export function craftRequest(scene: Scene, { as, ...request }: CraftedRequest = {}): Buffer {
  return craftBytes(scene, as === undefined ? request : { token: scene.tokens[as], ...request });
}

/** @throws AttackFailure without a response, or for another status than the given one. */
export function sendOnce(
  scene: Scene,
  sent: Sent = {},
  status: number | null = null,
): Promise<ReceivedResponse> {
  return sendBytes(scene, toBytes(scene, sent), status);
}

export function toBytes(scene: Scene, sent: Sent): Buffer {
  return Buffer.isBuffer(sent) ? sent : craftRequest(scene, sent);
}

/** Sends the bytes. Expects one Problem with one of the statuses and no provider call. */
export async function expectRejected(
  scene: Scene,
  bytes: Buffer,
  statuses: readonly number[],
  closes = false,
): Promise<Verdict> {
  return (await expectProblem(scene, bytes, statuses, closes)) ?? expectUncalled(scene);
}

/** Expects that no server receives a request of this attack, now and after all attacks. */
export function expectUncalled(scene: Scene): Verdict {
  return checkLate(scene, () => {
    const [first] = listReceived(scene, scene.provider);
    const reason = first && `the provider was called: ${first.target.slice(0, 80)}`;
    return expectBystanderUncalled(scene) ?? reason ?? null;
  });
}

export function expectBystanderUncalled(scene: Scene): Verdict {
  const isCalled = listReceived(scene, scene.bystander).length > 0;
  return isCalled ? 'a server that is not an endpoint was called' : null;
}

/** Checks now, and again after all attacks. */
export function checkLate({ lateChecks }: Scene, check: () => Verdict): Verdict {
  lateChecks.push(check);
  return check();
}

/** Sends the bytes. Expects status 200 and exactly one provider call, which `inspect` checks. */
export async function expectForwarded(
  scene: Scene,
  bytes: Buffer,
  inspect: ForwardedAttack['forwarded'],
): Promise<Verdict> {
  const response = await sendOnce(scene, bytes, 200);
  const requests = listReceived(scene, scene.provider);
  const [first] = requests;
  if (first === undefined || requests.length > 1)
    return `the provider received ${requests.length} requests`;
  return inspect(first, response, scene) ?? expectNoSecrets(scene, response);
}

/** Sends a request and expects the status. `token` defaults to that of the scene. */
export async function expectStatus(
  scene: Scene,
  target: string,
  status: number,
  token: string | null = scene.token,
): Promise<Verdict> {
  await sendOnce(scene, { target, token }, status);
  return null;
}

/** Sends requests until one is rejected with 429. Expects `status` for earlier ones. */
export async function expectLimited(
  scene: Scene,
  craft: (index: number) => Buffer,
  status: number,
): Promise<Verdict> {
  for (let index = 0; index < UNLIMITED_REQUESTS; index += 1) {
    const response = await sendOnce(scene, craft(index));
    if (response.status === 429) return null;
    if (response.status !== status) return `responded with ${response.status} instead of ${status}`;
  }
  return `none of ${UNLIMITED_REQUESTS} requests was rejected with 429`;
}

const POLL_MS = 20;

/** Repeats until there is a value. @throws AttackFailure with the reason at the deadline. */
export async function waitFor<Value>(
  reason: string,
  deadlineMs: number,
  read: () => Value | null | Promise<Value | null>,
): Promise<Value> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const value = await read();
    if (value !== null) return value;
    if (performance.now() > deadline) throw new AttackFailure(reason);
    await pause(POLL_MS);
  }
}
