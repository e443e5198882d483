import type { Sent, Verdict } from './attack-case.js';
import { headerValues, RawConnection, type ReceivedResponse } from './raw-http.js';
import { craftRequest } from './request-bytes.js';
import type { Scene } from './scene.js';

const RESPONSE_DEADLINE_MS = 10_000;
const CLOSE_DEADLINE_MS = 5_000;
const PROBLEM_MEMBERS = ['type', 'title', 'status', 'code', 'detail', 'request_id', 'errors'];

/** Ends an attack with a reason why it failed. */
export class AttackFailure extends Error {}

/**
 * Sends the bytes on a new connection. Expects one Problem with one of the statuses.
 * @param closes whether the connection must be closed after the response
 */
export async function expectRejected(
  scene: Scene,
  bytes: Uint8Array,
  statuses: readonly number[],
  closes = false,
): Promise<Verdict> {
  // The response to a HEAD has no Problem.
  const isHead = Buffer.from(bytes.subarray(0, 5)).toString() === 'HEAD ';
  return withConnection(scene, async (connection) => {
    connection.write(bytes);
    const response = await readResponse(connection, isHead);
    if (!statuses.includes(response.status)) {
      return `responded with ${response.status} instead of ${statuses.join(' or ')}`;
    }
    return (
      (isHead ? null : expectProblem(response)) ??
      expectNoSecrets(scene, response) ??
      (closes ? await expectClosed(connection) : null)
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

export async function expectStillServing(scene: Scene): Promise<Verdict> {
  try {
    await sendOnce(scene, { target: '/livez', token: null }, 200);
    return null;
  } catch (error) {
    return `the next client: ${(error as Error).message}`;
  }
}

function expectProblem({ status, body }: ReceivedResponse): Verdict {
  const problem = parseObject(body);
  if (problem === null) return 'the response is not a Problem';
  const missing = PROBLEM_MEMBERS.find((member) => !(member in problem));
  if (missing !== undefined) return `the Problem has no ${missing}`;
  return problem['status'] === status ? null : 'the Problem has another status';
}

/** Expects no secrets, stack traces or software versions in the response. */
export function expectNoSecrets({ secrets }: Scene, response: ReceivedResponse): Verdict {
  const text = `${JSON.stringify(response.headers)}\n${response.body.toString('latin1')}`;
  if (secrets.some((secret) => text.includes(secret))) return 'the response contains a secret';
  if (/\n\s+at .+:\d+:\d+/.test(text) || /node_modules|\.js:\d+/.test(text)) {
    return 'the response contains a stack trace';
  }
  const banner = ['server', 'x-powered-by'].find(
    (name) => headerValues(response.headers, name).length > 0,
  );
  return banner === undefined ? null : `the response has the header ${banner}`;
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
 * @param more is sent meanwhile, every half second
 */
export async function expectDisconnect(
  connection: RawConnection,
  deadlineMs: number,
  more: string | null = null,
): Promise<Verdict> {
  const timer = more && setInterval(() => connection.write(more), TRICKLE_MS);
  try {
    await connection.closed(deadlineMs);
    return null;
  } catch {
    return 'the connection stayed open';
  } finally {
    if (timer) clearInterval(timer);
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
