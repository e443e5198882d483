import { type Arguments, createArgumentProblem } from './check-arguments.js';
import { describeForm, findSchema } from './describe-form.js';
import type { DescribedTool } from './describe-tool.js';
import {
  type ArgumentError,
  createProblemResult,
  type ToolProblem,
  type ToolResult,
} from './tool-error.js';
import type { ToolSource } from './tool-source.js';

/** A call that the host has answered. */
export interface MadeCall {
  readonly tool: Pick<DescribedTool, 'name' | 'inputSchema' | 'outputSchema'>;
  readonly values: Arguments;
  readonly requestId: string;
}

/** A step that an agent cannot take: a request to a route of the host. */
const REQUEST = /\b(?:GET|POST|PUT|PATCH|DELETE) \/|^send \{/;
const JSON_TEXT = /^\s*[[{]/;

/** Rewrites a Problem about the request in terms of the tool. */
export function describeForAgent(
  problem: ToolProblem,
  operation: ToolSource['operation'],
  call: MadeCall,
): ToolResult {
  const { code, request_id, errors } = problem;
  if (code === 'validation_failed' && Array.isArray(errors)) {
    const named = errors.map((error) => translate(Object(error), operation, call));
    const body = call.values.get('body');
    const isJsonText =
      body?.kind === 'string' &&
      JSON_TEXT.test(body.value) &&
      named.some(({ field }) => field === 'body');
    const advice = 'send body as a JSON value, not as a string that contains JSON';
    return createArgumentProblem(call.tool, named, request_id, isJsonText ? [advice] : []);
  }
  const next_actions = problem.next_actions
    .flatMap((action) => action.split('; '))
    .filter((action) => !REQUEST.test(action));
  return createProblemResult({ ...problem, next_actions });
}

function translate(
  { field: place, reason }: { readonly field?: unknown; readonly reason?: unknown },
  operation: ToolSource['operation'],
  { tool: { inputSchema } }: MadeCall,
): ArgumentError {
  const written = typeof place === 'string' ? place : 'arguments';
  const field = operation.isTool ? nameMember(written) : nameArgument(written, operation);
  const problem = String(reason);
  if (problem.startsWith('expected')) return { field, reason: `invalid: ${problem}` };
  const schema = findSchema(inputSchema, field.split(/[./]/), inputSchema);
  if (schema === undefined || problem.includes('expected')) return { field, reason: problem };
  return { field, reason: `${problem}: expected ${describeForm(schema, inputSchema)}` };
}

/** Without a body around the arguments. */
function nameMember(place: string): string {
  return place === '' ? 'arguments' : place.replace(/^\//, '');
}

/** Names the argument instead of its place in the request: `body/items/0`, `limit`. */
function nameArgument(
  place: string,
  { kind, arguments: declared }: ToolSource['operation'],
): string {
  if (kind !== 'route') return place.replace(/^arguments\./, '');
  if (place === '' || place.startsWith('/')) return `body${place}`;
  const query = declared.find((one) => one.place === 'query' && place === `query.${one.wireName}`);
  return query?.name ?? place;
}
