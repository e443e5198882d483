import { array, nullable, number, optional, type Struct, string, type } from 'superstruct';
import { CommandError } from '../command-error.js';
import type { HostAnswer, HostClient } from './host-client.js';

/** The host answered, and it was a refusal. */
export class HostError extends CommandError {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

const PROBLEM = type({
  detail: string(),
  errors: array(type({ field: nullable(string()), reason: string() })),
  next_actions: optional(nullable(array(string()))),
  status: number(),
});

/**
 * The text of a 200.
 * @throws HostRefusal for any other status, in the words of its Problem.
 */
export async function requestText(
  client: HostClient,
  path: string,
  headers?: Readonly<Record<string, string>>,
): Promise<string> {
  const answer = await client.ask(path, headers);
  if (answer.status === 200) return answer.text;
  throw new HostError(describeRejection(client.url, answer), answer.status);
}

/** @throws HostRefusal as {@link requestText}; CommandFailure for a 200 that no host of ours gives. */
export async function requestJson<T, S>(
  client: HostClient,
  path: string,
  struct: Struct<T, S>,
): Promise<T> {
  return parseAnswer(client, await requestText(client, path), struct);
}

/** @throws CommandFailure when the text is something else. */
export function parseAnswer<T, S>(client: HostClient, text: string, struct: Struct<T, S>): T {
  const value = parseJson(text);
  if (struct.is(value)) return value;
  throw new CommandError(`${client.url} answers, but not as a modgate host does`);
}

/** Its detail, the fields that were wrong, and what can be done, in one line. */
function describeRejection(url: string, { status, text }: HostAnswer): string {
  const problem = parseJson(text);
  if (!PROBLEM.is(problem)) return `${url} answered ${status}, but not as a modgate host does`;
  const fields = problem.errors.map(({ field, reason }) =>
    field === null ? reason : `${field}: ${reason}`,
  );
  const details = fields.length === 0 ? '' : ` (${fields.join(', ')})`;
  const actions = (problem.next_actions ?? []).map((action) => `; ${action}`).join('');
  return `the host at ${url} answered ${status}: ${problem.detail}${details}${actions}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
