import { nameRoute } from '../../manifest/stream-rules.js';
import type {
  BlastRadius,
  ChangedRoute,
  ChangeKind,
  ModuleChange,
  MovedMount,
  RemovedRoute,
  RouteFacts,
} from './blast-radius.js';
import type { SchemaChange } from './compare-schemas.js';
import type { ResponseFacts } from './local-module.js';
import type { OpenedPart } from './opened-part.js';

const MARKS: Readonly<Record<ChangeKind, string>> = {
  added: '+',
  removed: '-',
  changed: '~',
  unknown: '?',
};

/** Formats lines of added (+), removed (-) and changed (~) modules and routes. */
export function formatChanges({ modules, unchanged }: Omit<BlastRadius, 'url'>): string[] {
  return [
    ...modules.flatMap(formatModule),
    `  = ${formatCount(unchanged.length, 'module')} unchanged`,
  ];
}

/** `1 file`, `0 errors` */
export function formatCount(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function formatModule(changed: ModuleChange): string[] {
  const { module, change, detail, capabilities, permissions, mounts, routes, responses } = changed;
  const reason = detail === null ? '' : `: ${detail}`;
  return [
    `  ${MARKS[change]} ${module} ${change}${reason}`,
    ...routes.removed.map((route) => `      - ${formatRoute(route)}, ${formatCalls(route)}`),
    ...routes.changed.flatMap((route) => [
      `      ~ ${formatChange(route)}`,
      ...(route.schemas ?? []).map((change) => `          ${formatSchemaChange(change)}`),
    ]),
    ...routes.added.map((route) => `      + ${formatRoute(route)}`),
    ...capabilities.removed.map((capability) => `      - capability ${capability}`),
    ...capabilities.added.map((capability) => `      + capability ${capability}`),
    ...(mounts?.removed ?? []).map((mount) => `      - ${formatMove(mount, 'goes to')}`),
    ...(mounts?.added ?? []).map((mount) => `      + ${formatMove(mount, 'comes from')}`),
    ...(permissions?.removed ?? []).map((part) => `      - ${formatOpened(part)}`),
    ...(permissions?.added ?? []).map((part) => `      + ${formatOpened(part)}`),
    ...(responses === undefined ? [] : formatResponses(responses)),
  ];
}

function formatOpened({ permission, opens }: OpenedPart): string {
  return `permission ${permission} opens ${opens}`;
}

function formatMove({ mount, module }: MovedMount, how: string): string {
  return `mount ${mount}${module === null ? '' : `, which ${how} module '${module}'`}`;
}

/** Lists removed headers first, because they break clients as much as another mode. */
function formatResponses({ before, after }: NonNullable<ModuleChange['responses']>): string[] {
  const list = (mark: string, from: ResponseFacts, to: ResponseFacts) => [
    ...from.expose_headers
      .filter((name) => !to.expose_headers.includes(name))
      .map((name) => `      ${mark} exposed header ${name}`),
    ...(from.redirects ?? [])
      .filter((target) => !to.redirects?.includes(target))
      .map((target) => `      ${mark} redirects to ${target}`),
  ];
  return [
    ...(before.mode === after.mode ? [] : [`      ~ responses ${before.mode} -> ${after.mode}`]),
    ...list('-', before, after),
    ...list('+', after, before),
  ];
}

function formatRoute({ method, path, capability, stream }: RouteFacts): string {
  const name = nameRoute({ method, path, ...(stream && { operation: { stream } }) });
  return `${name} (${capability ?? 'no capability'})`;
}

function formatCalls({ calls_last_hour: calls, calls_note: note }: RemovedRoute): string {
  if (calls === null) return `calls in the last hour ${note ?? 'unknown'}`;
  const number = calls === 0 ? 'never called' : `called ${formatCount(calls, 'time')}`;
  return `${number} in the last hour${note === null ? '' : ` (${note})`}`;
}

type Fact = Exclude<keyof RouteFacts, 'method'>;

/** What applies to a route without this member, in the order of the text. */
const DEFAULTS: Readonly<Record<Fact, string>> = {
  path: 'none',
  capability: 'none',
  timeout_ms: "the module's",
  body: "the method's",
  body_types: 'none listed',
  body_max_bytes: "the module's",
  response: 'JSON',
  response_types: 'none listed',
  response_max_bytes: "the module's",
  stream: 'none',
  stream_types: "the form's",
  stream_optional: 'false',
  encoded: 'none',
  idempotency: 'none',
  reads: 'false',
  danger_level: "the method's",
};

function formatChange({ before, after, schemas = [] }: ChangedRoute): string {
  const changes = (Object.keys(DEFAULTS) as Fact[]).flatMap((fact) => {
    const [old, now] = [formatFact(before, fact), formatFact(after, fact)];
    return old === now ? [] : [`${fact} ${old} -> ${now}`];
  });
  if (schemas.length > 0) changes.push(formatCount(schemas.length, 'schema change'));
  return `${after.method} ${after.path}: ${changes.join(', ')}`;
}

function formatFact(route: RouteFacts, fact: Fact): string {
  const value = route[fact] ?? DEFAULTS[fact];
  return Array.isArray(value) ? value.join(', ') : String(value);
}

function formatSchemaChange({ schema, place, change, breaks }: SchemaChange): string {
  const effect = breaks ? 'breaks callers' : 'compatible';
  return `${effect}: ${schema}${place === '' ? '' : ` ${place}`} ${change}`;
}
