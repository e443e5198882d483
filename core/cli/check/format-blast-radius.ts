import { toPrintable } from '../output/escape.js';
import type {
  BlastRadius,
  ChangedRoute,
  ChangeKind,
  ModuleChange,
  RemovedRoute,
  RouteFacts,
} from './blast-radius.js';
import { count } from './format-text.js';

const MARKS: Readonly<Record<ChangeKind, string>> = {
  added: '+',
  removed: '-',
  changed: '~',
  unknown: '?',
};

/** Lists added (+), removed (-) and changed (~) modules and routes. */
export function formatBlastRadius({ url, modules, unchanged }: BlastRadius): string {
  const lines = [
    `against ${url}:`,
    ...modules.flatMap(formatModule),
    `  = ${count(unchanged.length, 'module')} unchanged`,
  ];
  return `${lines.map(toPrintable).join('\n')}\n`;
}

function formatModule({ module, change, detail, capabilities, routes }: ModuleChange): string[] {
  const reason = detail === null ? '' : `: ${detail}`;
  return [
    `  ${MARKS[change]} ${module} ${change}${reason}`,
    ...routes.removed.map((route) => `      - ${formatRoute(route)}, ${formatCalls(route)}`),
    ...routes.changed.map((route) => `      ~ ${formatChange(route)}`),
    ...routes.added.map((route) => `      + ${formatRoute(route)}`),
    ...capabilities.removed.map((capability) => `      - capability ${capability}`),
    ...capabilities.added.map((capability) => `      + capability ${capability}`),
  ];
}

function formatRoute({ method, path, capability }: RouteFacts): string {
  return `${method} ${path} (${capability ?? 'no capability'})`;
}

function formatCalls({ calls_last_hour: calls, calls_note: note }: RemovedRoute): string {
  if (calls === null) return `calls in the last hour ${note ?? 'unknown'}`;
  const number = calls === 0 ? 'never called' : `called ${count(calls, 'time')}`;
  return `${number} in the last hour${note === null ? '' : ` (${note})`}`;
}

function formatChange({ before, after }: ChangedRoute): string {
  const changes: string[] = [];
  if (before.path !== after.path) changes.push(`path ${before.path} -> ${after.path}`);
  if (before.capability !== after.capability) {
    changes.push(`capability ${before.capability ?? 'none'} -> ${after.capability ?? 'none'}`);
  }
  if (before.timeout_ms !== after.timeout_ms) {
    changes.push(`timeout_ms ${formatTimeout(before)} -> ${formatTimeout(after)}`);
  }
  return `${after.method} ${after.path}: ${changes.join(', ')}`;
}

function formatTimeout({ timeout_ms }: RouteFacts): string {
  return timeout_ms === null ? "the module's" : String(timeout_ms);
}
