import type { Arguments } from './build-call.js';
import type { CatalogEntry } from './catalog.js';
import type { ToolProblem } from './tool-error.js';

/** A step that an agent cannot take: a request to a route of the host. */
const REQUEST = /\b(?:GET|POST|PUT|PATCH|DELETE) \/|^send \{/;
const JSON_TEXT = /^\s*[[{]/;

/** Says in words of the tool what the host says of its request. */
export function describeForAgent(
  problem: ToolProblem,
  entry: CatalogEntry,
  values: Arguments,
): ToolProblem {
  const { code, detail, errors } = problem;
  const actions = problem.next_actions
    .flatMap((action) => action.split('; '))
    .filter((action) => !REQUEST.test(action));
  if (code !== 'validation_failed') return { ...problem, next_actions: actions };
  const named = Array.isArray(errors) ? errors.map((error) => nameArgument(error, entry)) : [];
  const body = values.get('body');
  const isJsonText =
    body?.kind === 'string' &&
    JSON_TEXT.test(body.value) &&
    named.some(({ field }) => field === 'body');
  return {
    ...problem,
    detail: `${entry.name}: ${detail}`,
    ...(named.length > 0 && { errors: named }),
    next_actions: [
      ...(isJsonText ? ['send body as a JSON value, not as a string that contains JSON'] : actions),
      'see the inputSchema of the tool for what its arguments may be, and call it again',
    ],
  };
}

interface FieldError {
  readonly field: unknown;
  readonly reason: unknown;
}

/** Names the argument instead of its place in the request: `body/items/0`, `limit`. */
function nameArgument({ field, reason }: FieldError, entry: CatalogEntry): FieldError {
  if (typeof field !== 'string') return { field, reason };
  if (entry.target.kind !== 'route') return { field: field.replace(/^arguments\./, ''), reason };
  if (field === '' || field.startsWith('/')) return { field: `body${field}`, reason };
  const query = entry.operation.arguments.find(
    ({ place, wireName }) => place === 'query' && field === `query.${wireName}`,
  );
  return { field: query?.name ?? field, reason };
}
