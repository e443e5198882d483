import { randomUUID } from 'node:crypto';
import type { HostRequest, ManifestRoute, OperationArgument } from '../../core/contract/index.js';
import type { CatalogEntry } from './catalog.js';
import { type Arguments, nameKind } from './check-arguments.js';
import type { ExactValue } from './exact-json.js';
import { writePath } from './path-template.js';
import { encode, readScalar, writeQuery } from './query-values.js';
import { InvalidArguments } from './tool-error.js';
import { findParameter } from './tool-source.js';

type Call = Pick<HostRequest, 'method' | 'target' | 'body' | 'operation'> & {
  readonly headers: Readonly<Record<string, string>>;
};

const JSON_TYPE = 'application/json';
/** The host rejects longer heads anyway. Characters. */
const MAX_TARGET_TEXT = 16_384;

/**
 * Builds the host request of a tool call, which names its operation, so that the host calls no
 * other. Values are sent as the client wrote them.
 * @param callArguments those that the tool has
 * @throws InvalidArguments for values that cannot be sent.
 */
export function buildCall(entry: CatalogEntry, callArguments: Arguments): Call {
  const call =
    entry.target.kind === 'route'
      ? buildRouteCall(entry, entry.target.route, callArguments)
      : buildOperationCall(entry, callArguments);
  return { ...call, operation: { module: entry.module, id: entry.operation.id } };
}

function buildRouteCall(
  { module, operation }: CatalogEntry,
  route: ManifestRoute,
  callArguments: Arguments,
): Call {
  const path = new Map<string, string>();
  const query: string[] = [];
  const bodies: [OperationArgument, ExactValue][] = [];
  for (const argument of operation.arguments) {
    const { name, place, wireName } = argument;
    const value = callArguments.get(name);
    if (value === undefined) continue;
    if (place === 'body') bodies.push([argument, value]);
    else if (value.text.length > MAX_TARGET_TEXT) throw createTooLong(name);
    else if (place === 'path') path.set(wireName, readPathValue(name, value));
    else query.push(...writeQuery(name, describeQuery(route, wireName), value));
  }
  const local = encode(() => writePath(route.path, path));
  const search = query.length === 0 ? '' : `?${query.join('&')}`;
  return {
    method: route.method,
    target: `/modules/${encodeURIComponent(module)}/http${local}${search}`,
    ...createBody(route, ...bodies),
  };
}

function describeQuery(route: ManifestRoute, name: string) {
  const parameter = findParameter(route, name);
  return parameter === undefined ? { name } : { style: 'form' as const, ...parameter };
}

function createTooLong(field: string): InvalidArguments {
  return new InvalidArguments({
    field,
    reason: `too long: expected at most ${MAX_TARGET_TEXT} characters`,
  });
}

function createBody(
  route: ManifestRoute,
  body?: readonly [argument: OperationArgument, value: ExactValue],
) {
  const headers: Record<string, string> = {};
  if (route.operation?.idempotency === 'requires_key') headers['idempotency-key'] = randomUUID();
  if (route.operation?.stream_optional === true) headers['accept'] = JSON_TYPE;
  if (body === undefined) return { headers };
  const [{ isText }, value] = body;
  if (isText !== true) {
    return { headers: { ...headers, 'content-type': JSON_TYPE }, body: value.text };
  }
  if (value.kind !== 'string') {
    const reason = `${nameKind(value)}: expected a string, the text to send`;
    throw new InvalidArguments({ field: 'body', reason });
  }
  const type =
    route.operation?.body_types?.find((mediaType) => !mediaType.includes('*')) ?? 'text/plain';
  return { headers: { ...headers, 'content-type': type }, body: value.value };
}

/** Builds a call of an entity or an action; the host has one operation for both. */
function buildOperationCall({ module, operation }: CatalogEntry, callArguments: Arguments): Call {
  const head = JSON.stringify({ module, operation: operation.id }).slice(0, -1);
  return {
    method: 'POST',
    target: '/operations',
    headers: { 'content-type': JSON_TYPE },
    body: `${head},"arguments":${writeArguments(callArguments)}}`,
  };
}

/** Writes the arguments in their original text. */
function writeArguments(callArguments: Arguments): string {
  const members = [...callArguments].map(([name, { text }]) => `${JSON.stringify(name)}:${text}`);
  return `{${members.join(',')}}`;
}

function readPathValue(field: string, value: ExactValue): string {
  const text = readScalar(field, value);
  if (text === '') throw new InvalidArguments({ field, reason: 'empty: expected a string' });
  if (text.split('/').some((segment) => segment === '' || segment === '.' || segment === '..')) {
    const reason = "not a path: expected segments other than '', '.' and '..'";
    throw new InvalidArguments({ field, reason });
  }
  return text;
}
