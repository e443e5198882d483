import type {
  BlastRadius,
  ChangedRoute,
  ChangeKind,
  ModuleChange,
  MovedMount,
  OpenedPart,
  RemovedRoute,
  RouteFacts,
} from './blast-radius.js';
import type { SchemaChange } from './compare-schemas.js';
import type { ResponseFacts } from './local-module.js';

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

function formatRoute({ method, path, capability }: RouteFacts): string {
  return `${method} ${path} (${capability ?? 'no capability'})`;
}

function formatCalls({ calls_last_hour: calls, calls_note: note }: RemovedRoute): string {
  if (calls === null) return `calls in the last hour ${note ?? 'unknown'}`;
  const number = calls === 0 ? 'never called' : `called ${formatCount(calls, 'time')}`;
  return `${number} in the last hour${note === null ? '' : ` (${note})`}`;
}

function formatChange({ before, after, schemas = [] }: ChangedRoute): string {
  const changes: string[] = [];
  if (before.path !== after.path) changes.push(`path ${before.path} -> ${after.path}`);
  if (before.capability !== after.capability) {
    changes.push(`capability ${before.capability ?? 'none'} -> ${after.capability ?? 'none'}`);
  }
  if (before.timeout_ms !== after.timeout_ms) {
    changes.push(`timeout_ms ${formatTimeout(before)} -> ${formatTimeout(after)}`);
  }
  if (schemas.length > 0) changes.push(formatCount(schemas.length, 'schema change'));
  if (before.body !== after.body) {
    changes.push(`body ${formatBody(before)} -> ${formatBody(after)}`);
  }
  return `${after.method} ${after.path}: ${changes.join(', ')}`;
}

function formatSchemaChange({ schema, place, change, breaks }: SchemaChange): string {
  const effect = breaks ? 'breaks callers' : 'compatible';
  return `${effect}: ${schema}${place === '' ? '' : ` ${place}`} ${change}`;
}

function formatTimeout({ timeout_ms }: RouteFacts): string {
  return timeout_ms === null ? "the module's" : String(timeout_ms);
}

function formatBody({ body }: RouteFacts): string {
  return body ?? "the method's";
}
