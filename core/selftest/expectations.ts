import type { Verdict } from './attack-case.js';
import { headerValues, RawConnection, type RawResponse } from './raw-http.js';
import type { SeenRequest } from './recording-provider.js';
import { craftRequest } from './request-bytes.js';
import type { Scene } from './scene.js';

const ANSWER_DEADLINE_MS = 10_000;
const CLOSE_DEADLINE_MS = 5_000;
const PROBLEM_MEMBERS = ['type', 'title', 'status', 'code', 'detail', 'request_id', 'errors'];

export interface ExpectedRejection {
  readonly statuses: readonly number[];
  /** The connection must end behind the answer: what follows on it belongs to nobody. */
  readonly closes?: boolean;
  /** A HEAD has no Problem to read. */
  readonly isHead?: boolean;
}

/** Sends the bytes on a connection of their own: one Problem of these statuses, and no provider called. */
export async function expectRejected(
  scene: Scene,
  bytes: Uint8Array,
  refusal: ExpectedRejection,
): Promise<Verdict> {
  const before = countCalls(scene);
  const connection = await RawConnection.open(scene.address.port, scene.address.host);
  try {
    connection.write(bytes);
    const answer = await readAnswer(connection, refusal.isHead ?? false);
    if (typeof answer === 'string') return answer;
    return (
      expectProblem(answer, refusal) ??
      expectNoSecrets(scene, answer) ??
      (refusal.closes ? await expectClosed(connection) : null) ??
      expectUncalled(scene, before)
    );
  } finally {
    connection.destroy();
  }
}

/** Sends the bytes: an answer 200, and exactly one request at the provider, which is then looked at. */
export async function expectForwarded(
  scene: Scene,
  bytes: Uint8Array,
  look: (seen: SeenRequest, answer: RawResponse) => Verdict = () => null,
): Promise<Verdict> {
  const before = scene.own?.provider.seen.length ?? 0;
  const answer = await sendOnce(scene, bytes);
  if (typeof answer === 'string') return answer;
  if (answer.status !== 200) return `answered ${answer.status} instead of 200`;
  const seen = scene.own?.provider.seen.slice(before) ?? [];
  const [first] = seen;
  if (first === undefined || seen.length > 1) return `the provider saw ${seen.length} requests`;
  return look(first, answer) ?? expectNoSecrets(scene, answer);
}

/** One answer on a connection of its own, or why there was none. */
export async function sendOnce(scene: Scene, bytes: Uint8Array): Promise<RawResponse | string> {
  const connection = await RawConnection.open(scene.address.port, scene.address.host);
  try {
    connection.write(bytes);
    return await readAnswer(connection, false);
  } finally {
    connection.destroy();
  }
}

/** Whatever came before, the next caller is served. */
export async function expectAlive(scene: Scene): Promise<Verdict> {
  const answer = await sendOnce(
    scene,
    craftRequest({ ...scene, base: '', route: '/livez' }, { token: null }),
  );
  if (typeof answer === 'string') return `afterwards, the next caller: ${answer}`;
  return answer.status === 200 ? null : `afterwards, /livez answered ${answer.status}`;
}

function expectProblem(answer: RawResponse, { statuses, isHead }: ExpectedRejection): Verdict {
  if (!statuses.includes(answer.status)) {
    return `answered ${answer.status} instead of ${statuses.join(' or ')}`;
  }
  if (isHead) return null;
  const problem = parseObject(answer.body);
  if (problem === null) return 'the answer is no Problem';
  const missing = PROBLEM_MEMBERS.find((member) => !(member in problem));
  if (missing !== undefined) return `the Problem has no ${missing}`;
  return problem['status'] === answer.status ? null : 'the Problem tells another status';
}

/** No answer holds a secret, or tells what the host is made of. */
export function expectNoSecrets(scene: Scene, answer: RawResponse): Verdict {
  const text = `${JSON.stringify(answer.headers)}\n${answer.body.toString('latin1')}`;
  const secrets = [...(scene.own?.secrets ?? []), ...(scene.token === null ? [] : [scene.token])];
  if (secrets.some((secret) => text.includes(secret))) return 'the answer holds a secret';
  if (/\n\s+at .+:\d+:\d+/.test(text) || /node_modules|\.js:\d+/.test(text)) {
    return 'the answer holds a stack';
  }
  const banner = ['server', 'x-powered-by'].find(
    (name) => headerValues(answer.headers, name).length > 0,
  );
  return banner === undefined ? null : `the answer has the header ${banner}`;
}

interface CallCounts {
  readonly provider: number;
  readonly bystander: number;
}

function countCalls({ own }: Scene): CallCounts {
  return { provider: own?.provider.seen.length ?? 0, bystander: own?.bystander.seen.length ?? 0 };
}

function expectUncalled(scene: Scene, before: CallCounts): Verdict {
  if (countCalls(scene).bystander > before.bystander)
    return 'a server that is no endpoint was called';
  const seen = scene.own?.provider.seen.slice(before.provider) ?? [];
  return seen.length === 0 ? null : `the provider was called: ${seen[0]?.target.slice(0, 80)}`;
}

export function parseObject(bytes: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

async function readAnswer(
  connection: RawConnection,
  toHead: boolean,
): Promise<RawResponse | string> {
  try {
    return await connection.readFinal({ toHead, deadlineMs: ANSWER_DEADLINE_MS });
  } catch (error) {
    return `no answer: ${(error as Error).message.slice(0, 100)}`;
  }
}

async function expectClosed(connection: RawConnection): Promise<Verdict> {
  try {
    await connection.closed(CLOSE_DEADLINE_MS);
  } catch {
    return 'the connection stayed open';
  }
  return connection.unread === '' ? null : 'a second answer followed';
}
