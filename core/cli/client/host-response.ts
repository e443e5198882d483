import { array, nullable, number, optional, type Struct, string, type } from 'superstruct';
import { CommandError } from '../command-error.js';
import { type HostClient, type HostResponse, HostUnreachable } from './host-client.js';

export class RejectedRequest extends CommandError {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** A proxy in front of the host answers with them, and a host that is starting or draining. */
const UNAVAILABLE: ReadonlySet<number> = new Set([502, 503, 504]);

/** For a host that may be starting. @throws any other error. */
export function catchUnreachable(error: unknown): HostUnreachable {
  if (error instanceof HostUnreachable) return error;
  if (!(error instanceof RejectedRequest && UNAVAILABLE.has(error.status))) throw error;
  return new HostUnreachable(error.message, { cause: error });
}

const PROBLEM = type({
  detail: string(),
  errors: array(type({ field: nullable(string()), reason: string() })),
  next_actions: optional(nullable(array(string()))),
  status: number(),
});

/**
 * Returns the body of a response with the status.
 * @throws RejectedRequest for any other status, with the detail of its Problem.
 */
async function request(
  client: HostClient,
  path: string,
  status: number,
  options: Parameters<HostClient['send']>[1],
): Promise<string> {
  const response = await client.send(path, options);
  if (response.status === status) return response.text;
  const { url } = client;
  throw new RejectedRequest(describeRejection(url, response), response.status);
}

/** @throws RejectedRequest for any status except 200. */
export function requestText(
  client: HostClient,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  return request(client, path, 200, { headers });
}

/** Posts a value as JSON. @throws RejectedRequest for any status except 200. */
export function postResource(client: HostClient, path: string, body: unknown): Promise<string> {
  return request(client, path, 200, { method: 'POST', body });
}

/** @throws RejectedRequest for any status except 204. */
export async function removeResource(client: HostClient, path: string): Promise<void> {
  await request(client, path, 204, { method: 'DELETE' });
}

/** @throws RejectedRequest like {@link requestText}; CommandError for an unexpected body. */
export async function requestJson<T, S>(
  client: HostClient,
  path: string,
  struct: Struct<T, S>,
): Promise<T> {
  return parseHostResponse(client, await requestText(client, path), struct);
}

/** @throws CommandError for an unexpected body. */
export function parseHostResponse<T, S>(client: HostClient, text: string, struct: Struct<T, S>): T {
  const value = parseJson(text);
  if (struct.is(value)) return value;
  throw new CommandError(`${client.url} is not a modgate host: unexpected response`);
}

/** The detail, the invalid fields and the next actions of a Problem, in one line. */
function describeRejection(url: string, { status, text }: HostResponse): string {
  const problem = parseJson(text);
  if (!PROBLEM.is(problem)) {
    return UNAVAILABLE.has(status)
      ? `the host at ${url} cannot be reached: a proxy responded with ${status}`
      : `${url} is not a modgate host: unexpected response with status ${status}`;
  }
  const fields = problem.errors.map(({ field, reason }) =>
    field === null ? reason : `${field}: ${reason}`,
  );
  const details = fields.length === 0 ? '' : ` (${fields.join(', ')})`;
  const actions = (problem.next_actions ?? []).map((action) => `; ${action}`).join('');
  return `the host at ${url} responded with ${status}: ${problem.detail}${details}${actions}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
