import { describeOwner } from '../../descriptor/sections/owner.js';
import type {
  ExplainedCheck,
  ExplainedEndpoint,
  ExplainedHeader,
  ExplainedRoute,
  Explanation,
} from '../../operations/explain/explanation.js';
import { formatBlocks } from '../output/escape.js';
import { formatTable } from '../output/table.js';

const MARKS: Readonly<Record<ExplainedCheck['outcome'], string>> = {
  pass: 'ok',
  fail: 'FAIL',
  unknown: '-',
};

/** Prints the verdict, then the checks, then the request to the provider. */
export function formatExplanation(explanation: Explanation): string {
  const { method, target, verdict, checks, endpoints } = explanation;
  const status = verdict.status === null ? '' : `${verdict.status} `;
  return formatBlocks(
    [`${method} ${target}`, `=> ${status}${verdict.detail}`],
    formatSubjects(explanation),
    section('checks', checks.flatMap(formatCheck)),
    section('headers to the provider', formatHeaders(explanation.headers)),
    section('endpoints', endpoints.map(formatEndpoint)),
    section('limits', formatLimits(explanation)),
  );
}

function formatSubjects({ path, actor, module, route, also_matches, body }: Explanation): string[] {
  const rows: readonly (readonly [name: string, text: string | null | undefined])[] = [
    ['path', path.provider_path],
    ['forwarded as', path.forward_target],
    ['actor', actor && `${actor.kind}:${actor.id}, scopes: ${actor.scopes.join(', ') || 'none'}`],
    ['roles', actor?.roles && (actor.roles.join(', ') || 'none')],
    ['module', module && `${module.name}, ${module.state}, ${module.file}`],
    ['owner', describeOwner(module?.owner)],
    ['digest', module?.digest],
    ['route', route && formatRoute(route)],
    ...Object.entries(route?.path_params ?? {}).map(
      ([name, value]) => ['parameter', `${name} = ${value}`] as const,
    ),
    ...also_matches.map((other) => ['also matches', formatRoute(other)] as const),
    ['body', body && formatBody(body)],
  ];
  return rows.flatMap(([name, text]) => (text ? `${name.padEnd(SUBJECT_WIDTH)}${text}` : []));
}

/** The longest name and a gap. */
const SUBJECT_WIDTH = 'forwarded as'.length + 2;

function formatRoute({ method, declared_path, capability }: ExplainedRoute): string {
  return `${method} ${declared_path} (${capability ?? 'no capability'})`;
}

function formatBody({ policy, max_bytes }: NonNullable<Explanation['body']>): string {
  if (policy === 'ignored') return 'ignored';
  if (policy === 'empty') return 'must be empty';
  if (policy === 'optional') return `none, or JSON of at most ${max_bytes} bytes`;
  return `must be JSON, at most ${max_bytes} bytes`;
}

function formatCheck({ check, outcome, status, detail, next_actions }: ExplainedCheck): string[] {
  const prefix = status === null ? '' : `${status} `;
  return [
    `${MARKS[outcome].padEnd(5)} ${check.padEnd(11)} ${prefix}${detail}`,
    ...next_actions.map((action) => `${' '.repeat(18)}${action}`),
  ];
}

function formatEndpoint({ endpoint, state, target }: ExplainedEndpoint): string {
  return `${endpoint} (${state})${target === undefined ? '' : ` gets ${target}`}`;
}

function formatHeaders(headers: readonly ExplainedHeader[]): string[] {
  return headers.map(({ name, value, from }) => {
    if (value !== null) return `${name}: ${value}`;
    if (from === 'caller') return `${name}: as sent by the client`;
    return `${name}: ${from === 'host' ? 'set for each call' : 'a credential of the host, not shown'}`;
  });
}

function formatLimits({ limits }: Explanation): string[] {
  const columns = ['NAME', { right: 'VALUE' }, 'SET BY'];
  const rows = limits.map(({ name, value, source }) => {
    return [name, String(value), source ?? 'an earlier version of the file'];
  });
  return rows.length === 0 ? [] : formatTable(columns, rows);
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
}
