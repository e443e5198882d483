import type { Sent, Verdict } from './attack-case.js';
import { headerValues, RawConnection, type ReceivedResponse } from './raw-http.js';
import type { RecordedRequest } from './recording-provider.js';
import { craftRequest } from './request-bytes.js';
import { listReceived, requireOwn, type Scene } from './scene.js';

const RESPONSE_DEADLINE_MS = 10_000;
const CLOSE_DEADLINE_MS = 5_000;
/** Far more than a host with a limit admits at once. */
const UNLIMITED_REQUESTS = 100;
const PROBLEM_MEMBERS = ['type', 'title', 'status', 'code', 'detail', 'request_id', 'errors'];

/** Ends an attack with a reason why it failed. */
export class AttackFailure extends Error {}

interface ExpectedRejection {
  readonly statuses: readonly number[];
  /** The connection must be closed after the response: the following bytes are ambiguous. */
  readonly closes?: boolean;
  /** The response to a HEAD has no Problem. */
  readonly isHead?: boolean;
}

/** Sends the bytes on a new connection. Expects one Problem with one of the statuses and no provider call. */
export async function expectRejected(
  scene: Scene,
  bytes: Uint8Array,
  expected: ExpectedRejection,
): Promise<Verdict> {
  const before = countReceived(scene);
  return withConnection(scene, async (connection) => {
    connection.write(bytes);
    const response = await readResponse(connection, expected.isHead ?? false);
    return (
      expectProblem(response, expected) ??
      expectNoSecrets(scene, response) ??
      (expected.closes ? await expectClosed(connection) : null) ??
      expectUncalled(scene, before)
    );
  });
}

/** Opens a connection for `use`, and destroys it afterwards. */
export async function withConnection<Result>(
  { address }: Scene,
  use: (connection: RawConnection) => Promise<Result>,
): Promise<Result> {
  const connection = await RawConnection.to(address);
  try {
    return await use(connection);
  } finally {
    connection.destroy();
  }
}

/** Sends the bytes. Expects status 200 and exactly one provider call, which `inspect` checks. */
export async function expectForwarded(
  scene: Scene,
  bytes: Buffer,
  inspect: (recorded: RecordedRequest, response: ReceivedResponse) => Verdict,
): Promise<Verdict> {
  const { provider } = requireOwn(scene);
  const before = listReceived(scene, provider).length;
  const response = await sendOnce(scene, bytes, 200);
  const requests = listReceived(scene, provider).slice(before);
  const [first] = requests;
  if (first === undefined || requests.length > 1)
    return `the provider received ${requests.length} requests`;
  return inspect(first, response) ?? expectNoSecrets(scene, response);
}

/** @throws AttackFailure without a response, or for another status than the given one. */
export async function sendOnce(
  scene: Scene,
  sent: Sent = {},
  status: number | null = null,
): Promise<ReceivedResponse> {
  const response = await withConnection(scene, (connection) => {
    connection.write(Buffer.isBuffer(sent) ? sent : craftRequest(scene, sent));
    return readResponse(connection);
  });
  if (status === null || response.status === status) return response;
  throw new AttackFailure(`responded with ${response.status} instead of ${status}`);
}

/** Sends a request and expects the status. `token` defaults to that of the scene. */
export async function expectStatus(
  scene: Scene,
  target: string,
  status: number,
  token: string | null = scene.token,
): Promise<Verdict> {
  const response = await sendOnce(scene, { target, token });
  return response.status === status
    ? null
    : `${target} responded with ${response.status} instead of ${status}`;
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

export async function expectStillServing(scene: Scene): Promise<Verdict> {
  try {
    await sendOnce(scene, { target: '/livez', token: null }, 200);
    return null;
  } catch (error) {
    return `the next client: ${(error as Error).message}`;
  }
}

function expectProblem(
  response: ReceivedResponse,
  { statuses, isHead }: ExpectedRejection,
): Verdict {
  if (!statuses.includes(response.status)) {
    return `responded with ${response.status} instead of ${statuses.join(' or ')}`;
  }
  if (isHead) return null;
  const problem = parseObject(response.body);
  if (problem === null) return 'the response is not a Problem';
  const missing = PROBLEM_MEMBERS.find((member) => !(member in problem));
  if (missing !== undefined) return `the Problem has no ${missing}`;
  return problem['status'] === response.status ? null : 'the Problem has another status';
}

/** Expects no secrets, stack traces or software versions in the response. */
export function expectNoSecrets(scene: Scene, response: ReceivedResponse): Verdict {
  const text = `${JSON.stringify(response.headers)}\n${response.body.toString('latin1')}`;
  const secrets = [...(scene.own?.secrets ?? []), ...(scene.token === null ? [] : [scene.token])];
  if (secrets.some((secret) => text.includes(secret))) return 'the response contains a secret';
  if (/\n\s+at .+:\d+:\d+/.test(text) || /node_modules|\.js:\d+/.test(text)) {
    return 'the response contains a stack trace';
  }
  const banner = ['server', 'x-powered-by'].find(
    (name) => headerValues(response.headers, name).length > 0,
  );
  return banner === undefined ? null : `the response has the header ${banner}`;
}

interface ReceivedCounts {
  readonly provider: number;
  readonly bystander: number;
}

function countReceived(scene: Scene): ReceivedCounts {
  const { own } = scene;
  if (own === null) return { provider: 0, bystander: 0 };
  return {
    provider: listReceived(scene, own.provider).length,
    bystander: listReceived(scene, own.bystander).length,
  };
}

/** Expects that no server receives further requests of this attack, now and after all attacks. */
function expectUncalled(scene: Scene, before: ReceivedCounts): Verdict {
  const check = (): Verdict => {
    if (scene.own === null) return null;
    if (countReceived(scene).bystander > before.bystander)
      return 'a server that is not an endpoint was called';
    const [first] = listReceived(scene, scene.own.provider).slice(before.provider);
    return first === undefined ? null : `the provider was called: ${first.target.slice(0, 80)}`;
  };
  scene.lateChecks.push(check);
  return check();
}

export function parseObject(bytes: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** @throws AttackFailure without a response. */
export async function readResponse(
  connection: RawConnection,
  toHead = false,
): Promise<ReceivedResponse> {
  try {
    return await connection.readFinal({ toHead, deadlineMs: RESPONSE_DEADLINE_MS });
  } catch (error) {
    throw new AttackFailure(`no response: ${(error as Error).message.slice(0, 100)}`);
  }
}

const TRICKLE_MS = 500;

/**
 * Expects that the host closes the connection in time, with or without a response.
 * @param more returns the bytes to send meanwhile, every half second
 */
export async function expectDisconnect(
  connection: RawConnection,
  deadlineMs: number,
  more: (() => string) | null = null,
): Promise<Verdict> {
  const timer = more && setInterval(() => connection.write(more()), TRICKLE_MS);
  try {
    await connection.closed(deadlineMs);
    return null;
  } catch {
    return 'the connection stayed open';
  } finally {
    if (timer !== null) clearInterval(timer);
  }
}

/** Expects that the connection is closed without another response. */
export async function expectClosed(connection: RawConnection): Promise<Verdict> {
  try {
    await connection.closedOrSent(CLOSE_DEADLINE_MS);
  } catch {
    return 'the connection stayed open';
  }
  return connection.unread === '' ? null : 'a second response followed';
}
