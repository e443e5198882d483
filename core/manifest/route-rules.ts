import type { Manifest, ManifestRoute, ProviderAdapter } from '../contract/index.js';
import { describePath, type Violation } from '../document/diagnostic.js';
import { containsJson, isPageType } from '../lib/media-type.js';
import { RouteConflict, RouteTable } from '../lib/routing/route-table.js';
import {
  listParameters,
  parseRouteTemplate,
  type RouteTemplate,
  TemplateError,
} from '../lib/routing/route-template.js';
import { bodyRuleOf } from './body-rule.js';
import { streams } from './cache-rules.js';
import { isWebSocket } from './stream-rules.js';

/** The first segment of the host's own paths. */
const BRIDGE_SEGMENT = 'console-bridge';

/** A path that may be printed on a terminal; a longer one would obscure the message. */
const PRINTABLE_PATH = /^[\x20-\x7e]{1,200}$/;

/** Literals that other routers treat as parameters, with the notation of modgate. */
const FOREIGN_PARAMETERS: readonly [pattern: RegExp, hint: string][] = [
  [/^:\w+$|^<[^>]*>$/, 'write {name} for a parameter'],
  [/^\*+$/, 'write {name} for one segment, or {name...} for all that follow'],
];

/** Validates templates, conflicts by shape, and the path of the console bridge. */
export function validateRoutes({ http_routes = [] }: Partial<Manifest>): Violation[] {
  const table = new RouteTable<null>();
  return http_routes.flatMap((route, index): Violation[] => {
    const problem = validateRoute(route, table);
    if (problem === null) {
      return [
        ...validateBodyRule(route, index),
        ...validateBytes(route, index),
        ...validateTypesBesideJson(route, index),
        ...validateStream(route, index),
        ...validateCache(route, index),
        ...validateWebSocket(route, index, http_routes),
        ...validateEncoded(route, index),
      ];
    }
    const path = ['http_routes', index, 'path'];
    const message = PRINTABLE_PATH.test(route.path)
      ? problem.message
      : `${describePath(path)} is not a valid route template, or repeats another`;
    return [{ rule: problem.rule, message, hint: null, path, at: 'value' }];
  });
}

function validateBodyRule(route: ManifestRoute, index: number): Violation[] {
  const { body = 'none', cache } = route.operation ?? {};
  if (route.method !== 'GET' || body === 'none' || isWebSocket(route)) return [];
  const name = describeRoute(route, index);
  const violate = (member: string, rest: string, hint: string): Violation[] => {
    const path = ['http_routes', index, 'operation', member];
    return [{ rule: 'body-of-get', message: `${name} ${rest}`, hint, path, at: 'key' }];
  };
  if (body !== 'optional') {
    const rest = `must not have body: ${body}, since the body of a GET can only be optional`;
    return violate('body', rest, 'write body: optional, or remove it');
  }
  if (cache === undefined) return [];
  const rest = 'must not have a cache: two bodies at one path would share a response';
  return violate('cache', rest, 'remove it, or body: optional');
}

/** Returns a function that rejects a member of the operation, if it is present. */
function rejectMembers(route: ManifestRoute, index: number, rule: string) {
  const { operation = {} } = route;
  return (name: keyof typeof operation, rest: string, hint: string): Violation[] => {
    if (operation[name] == null) return [];
    const message = `${describeRoute(route, index)} must not have ${name}: ${rest}`;
    const path = ['http_routes', index, 'operation', name];
    return [{ rule, message, hint, path, at: 'key' }];
  };
}

/** Rejects members of byte bodies on a JSON route, and members of JSON bodies on a byte route. */
function validateBytes(route: ManifestRoute, index: number): Violation[] {
  const { operation = {} } = route;
  const isBytes = { body: operation.body === 'bytes', response: operation.response === 'bytes' };
  const violate = rejectMembers(route, index, 'bytes-and-json');
  return (['body', 'response'] as const).flatMap((part) => {
    const schema = part === 'body' ? 'input_schema' : 'output_schema';
    if (isBytes[part]) return violate(schema, `a ${part} of bytes has no schema`, 'remove it');
    const reason = `only a ${part} of bytes has it`;
    const hint = `write ${part}: bytes, or remove it`;
    if (mayHaveTypesBesideJson(route, part)) {
      if (operation[`${part}_types`] !== undefined) return [];
      const either = `write ${part}_types or ${part}: bytes, or remove it`;
      return violate(`${part}_max_bytes`, reason, either);
    }
    return [
      ...violate(`${part}_types`, reason, hint),
      ...violate(`${part}_max_bytes`, reason, hint),
    ];
  });
}

/** Whether the part is JSON, beside which other media types may pass as bytes. */
function mayHaveTypesBesideJson(route: ManifestRoute, part: 'body' | 'response'): boolean {
  const { response, stream } = route.operation ?? {};
  if (part === 'response') return response === undefined && stream === undefined;
  const body = bodyRuleOf(route);
  return route.method !== 'GET' && (body === 'required' || body === 'optional');
}

/** Rejects types of JSON beside JSON, which could be either. */
function validateTypesBesideJson(route: ManifestRoute, index: number): Violation[] {
  const parts = (['body', 'response'] as const).filter((part) =>
    mayHaveTypesBesideJson(route, part),
  );
  return parts.flatMap((part) =>
    (route.operation?.[`${part}_types`] ?? []).flatMap((type, at): Violation[] => {
      if (!containsJson(type)) return [];
      const message = `${describeRoute(route, index)} must not list a type that contains JSON in ${part}_types: its ${part} is JSON already`;
      const hint = `list types such as multipart/form-data or text/*, or write ${part}: bytes`;
      const path = ['http_routes', index, 'operation', `${part}_types`, at];
      return [{ rule: 'bytes-and-json', message, hint, path, at: 'value' }];
    }),
  );
}

/** Rejects byte members and schemas, because a stream of events has neither. */
function validateStream(route: ManifestRoute, index: number): Violation[] {
  const { operation = {} } = route;
  const violate = rejectMembers(route, index, 'stream-and-body');
  if (operation.stream === undefined) {
    return (['stream_types', 'stream_optional'] as const).flatMap((name) =>
      violate(name, 'only a stream has it', 'write stream: sse, or remove it'),
    );
  }
  if (isWebSocket(route)) return [];
  const rest = 'a stream of events is neither bytes nor one JSON value';
  // A stream is never cached, but a reader would expect the JSON beside it to be.
  const others =
    operation.stream_optional === true
      ? (['response', 'cache'] as const)
      : (['response', 'output_schema'] as const);
  return [
    ...others.flatMap((name) => violate(name, rest, `remove it, or stream: ${operation.stream}`)),
    ...validateStreamTypes(route, index),
  ];
}

function validateStreamTypes(route: ManifestRoute, index: number): Violation[] {
  return (route.operation?.stream_types ?? []).flatMap((type, at): Violation[] => {
    if (!isPageType(type)) return [];
    const message = `${describeRoute(route, index)} must not list a range, or a type that browsers show as a page, in stream_types`;
    const hint = 'list types such as text/event-stream, application/x-ndjson or application/json';
    const path = ['http_routes', index, 'operation', 'stream_types', at];
    return [{ rule: 'stream-type', message, hint, path, at: 'value' }];
  });
}

/** Allows a cache only for GET. */
function validateCache(route: ManifestRoute, index: number): Violation[] {
  if (route.method === 'GET' || route.operation?.cache === undefined) return [];
  const message = `${describeRoute(route, index)} must not have a cache: only responses to GET are kept`;
  const path = ['http_routes', index, 'operation', 'cache'];
  return [{ rule: 'cache-of-write', message, hint: 'remove it', path, at: 'key' }];
}

/** Members without a meaning for WebSockets, whose frames are neither bodies nor validated. */
const OF_BODIES = [
  'cache',
  'response',
  'stream_types',
  'stream_optional',
  'input_schema',
  'output_schema',
  'body',
] as const;

/** Requires a GET without bodies, because a handshake is a GET and frames are not bodies. */
function validateWebSocket(
  route: ManifestRoute,
  index: number,
  routes: readonly ManifestRoute[],
): Violation[] {
  if (!isWebSocket(route)) return [];
  const { method, operation = {} } = route;
  const name = describeRoute(route, index);
  const violate = (member: string, rest: string, hint: string): Violation => {
    const path = ['http_routes', index, ...(member === 'method' ? [] : ['operation']), member];
    const at = member === 'method' || member === 'stream' ? 'value' : 'key';
    return { rule: 'websocket', message: `${name} ${rest}`, hint, path, at };
  };
  const bodies = OF_BODIES.filter((member) => (operation[member] ?? 'none') !== 'none').map(
    (member) => violate(member, `must not have ${member}: it is a WebSocket`, 'remove it'),
  );
  if (method !== 'GET') {
    return [...bodies, violate('method', 'must be a GET: it is a WebSocket', 'write method: GET')];
  }
  const twin = routes.find((other) => other !== route && isTwin(other, route));
  const ids = [operation.operation_id, twin?.operation?.operation_id];
  if (twin === undefined || (ids.every((id) => id !== undefined) && ids[0] !== ids[1]))
    return bodies;
  const hint = 'give each of the two an operation_id of its own';
  return [...bodies, violate('stream', 'stands beside a route of the same path', hint)];
}

/** Whether the other route has the same path, but is not a WebSocket. */
function isTwin(other: ManifestRoute, { method, path }: ManifestRoute): boolean {
  return other.method === method && !isWebSocket(other) && shapeOf(other) === shapeOf({ path });
}

/** Paths of one shape match the same requests: names of parameters make no difference. */
export function shapeOf({ path }: Pick<ManifestRoute, 'path'>): string {
  return path.replace(/\{[^{}]*?(\.\.\.)?\}/g, '{$1}');
}

/** The capabilities of an adapter; `null` if they are unknown. */
export interface AdapterLimits {
  readonly kind: string;
  readonly streams: boolean;
  readonly upgrades: boolean;
  /** Whether its providers get the name of a tool instead of the path. */
  readonly tools: boolean;
}

export function limitsOf({ supports, kind }: ProviderAdapter): AdapterLimits {
  return {
    kind,
    streams: supports.streams === true,
    upgrades: supports.upgrade === true,
    tools: supports.toolResults === true,
  };
}

/** Finds routes that require an adapter with support for streams or WebSockets. */
export function findStreamedRoutes(
  { http_routes }: Pick<Manifest, 'http_routes'>,
  { kind, streams, upgrades }: AdapterLimits,
): Violation[] {
  return http_routes.flatMap((route, index): Violation[] => {
    const { body, body_types, response, response_types, stream } = route.operation ?? {};
    const streamed = [
      ['body', body === 'bytes' && !streams],
      ['body_types', body_types !== undefined && !streams],
      ['response', response === 'bytes' && !streams],
      ['response_types', response_types !== undefined && !streams],
      ['stream', stream !== undefined && !(isWebSocket(route) ? upgrades : streams)],
    ] as const;
    const name = streamed.find(([, isStreamed]) => isStreamed)?.[0];
    if (name === undefined) return [];
    const value = name.endsWith('_types') ? name : `${name}: ${route.operation?.[name]}`;
    const message = `${describeRoute(route, index)} must not have ${value}, which providers of kind ${kind} cannot carry`;
    const hint = `use a kind that ${isWebSocket(route) ? 'opens WebSockets' : 'streams'}, such as http, unix or process`;
    const path = ['http_routes', index, 'operation', name];
    const rule = name === 'stream' ? 'stream-unsupported' : 'bytes-unsupported';
    return [{ rule, message, hint, path, at: 'value' }];
  });
}

/** @param route with a valid template */
function validateEncoded(route: ManifestRoute, index: number): Violation[] {
  const { encoded = [] } = route.operation ?? {};
  if (encoded.length === 0) return [];
  const names = listParameters(parseRouteTemplate(route.path)).map(({ name }) => name);
  return encoded.flatMap((name, place): Violation[] => {
    if (names.includes(name)) return [];
    const message = `${describeRoute(route, index)} must not name a parameter in encoded that its path does not have`;
    const hint = names.length === 0 ? 'remove it' : `the path has ${names.join(', ')}`;
    const path = ['http_routes', index, 'operation', 'encoded', place];
    return [{ rule: 'encoded-parameter', message, hint, path, at: 'value' }];
  });
}

export function findRouteWarnings(
  manifest: Partial<Manifest>,
  limits: AdapterLimits | null = null,
): Violation[] {
  return [
    ...findForeignParameters(manifest),
    ...(limits?.tools === true ? [] : findEncoded(manifest)),
    ...findNeedlessCaches(manifest),
  ];
}

function findNeedlessCaches({ http_routes = [] }: Partial<Manifest>): Violation[] {
  return http_routes.flatMap((route, index): Violation[] => {
    const { operation = {} } = route;
    if (operation.cache === undefined || !streams(operation)) return [];
    const message = `${describeRoute(route, index)} has a cache without effect: a stream is never kept`;
    const path = ['http_routes', index, 'operation', 'cache'];
    return [{ rule: 'needless-cache', message, hint: 'remove it', path, at: 'key' }];
  });
}

/**
 * Warns because checks of these values are only effective if the provider decodes them like the
 * host.
 */
function findEncoded({ http_routes = [] }: Partial<Manifest>): Violation[] {
  return http_routes.flatMap((route, index): Violation[] => {
    if (!takesEncoded(route)) return [];
    const message = `${describeRoute(route, index)} forwards encoded characters: the provider must split the path before it decodes, and decode it once`;
    const path = ['http_routes', index, 'operation', 'encoded'];
    return [{ rule: 'encoded-characters', message, hint: null, path, at: 'key' }];
  });
}

/** @param route whose template may be invalid */
function takesEncoded({ path, operation: { encoded = [] } = {} }: ManifestRoute): boolean {
  return encoded.some((name) => path.includes(`{${name}}`) || path.includes(`{${name}...}`));
}

/** Warns of segments such as `:id`, which are valid literals. */
function findForeignParameters({ http_routes = [] }: Partial<Manifest>): Violation[] {
  return http_routes.flatMap((route, index): Violation[] => {
    const [hint] = route.path.split('/').flatMap((segment) => hintAtLiteral(segment) ?? []);
    if (hint === undefined) return [];
    const message = `${describeRoute(route, index)} has a literal segment that looks like a parameter`;
    const path = ['http_routes', index, 'path'];
    return [{ rule: 'literal-parameter', message, hint, path, at: 'value' }];
  });
}

function hintAtLiteral(segment: string): string | null {
  return FOREIGN_PARAMETERS.find(([pattern]) => pattern.test(segment))?.[1] ?? null;
}

/** `route 'GET /contacts/{id}'`, or the position of a route that must not be printed. */
export function describeRoute({ method, path }: ManifestRoute, index: number): string {
  if (!PRINTABLE_PATH.test(path)) return describePath(['http_routes', index]);
  return `route '${method} ${path}'`;
}

function validateRoute(route: ManifestRoute, table: RouteTable<null>) {
  const name = `route '${route.method} ${route.path}'`;
  try {
    const template = parseRouteTemplate(route.path, route.operation?.encoded);
    if (isBridgeTemplate(template)) {
      const rest = `must not start with /${BRIDGE_SEGMENT}/, which belongs to the host`;
      return { rule: 'bridge-route', message: `${name} ${rest}` };
    }
    table.add({ method: route.method, template, value: null, isUpgrade: isWebSocket(route) });
    return null;
  } catch (error) {
    if (error instanceof RouteConflict) return { rule: 'route-conflict', message: error.message };
    if (!(error instanceof TemplateError)) throw error;
    return { rule: 'bad-template', message: `${name} ${error.message}` };
  }
}

function isBridgeTemplate({ segments: [first, second] }: RouteTemplate): boolean {
  return first?.kind === 'literal' && first.text === BRIDGE_SEGMENT && second !== undefined;
}
