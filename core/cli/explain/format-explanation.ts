import { describeOwner } from '../../descriptor/owner.js';
import type {
  ExplainedCheck,
  ExplainedEndpoint,
  ExplainedHeader,
  ExplainedRoute,
  Explanation,
} from '../../operations/explain/explanation.js';
import { toPrintable } from '../output/escape.js';
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
  const blocks = [
    [`${method} ${target}`, `=> ${status}${verdict.detail}`],
    formatSubjects(explanation),
    section('checks', checks.flatMap(formatCheck)),
    section('headers to the provider', formatHeaders(explanation.headers)),
    section('endpoints', endpoints.map(formatEndpoint)),
    section('limits', formatLimits(explanation)),
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.map(toPrintable).join('\n')}\n`)
    .join('\n');
}

function formatSubjects({ path, actor, module, route, also_matches, body }: Explanation): string[] {
  const rows: [string, string][] = [];
  if (path.provider_path !== null) rows.push(['path', path.provider_path]);
  if (path.forward_target !== null) rows.push(['forwarded as', path.forward_target]);
  if (actor !== null) {
    rows.push(['actor', `${actor.kind}:${actor.id}, scopes: ${actor.scopes.join(', ') || 'none'}`]);
    if (actor.roles !== undefined) rows.push(['roles', actor.roles.join(', ') || 'none']);
  }
  if (module !== null) rows.push(['module', `${module.name}, ${module.state}, ${module.file}`]);
  const owner = describeOwner(module?.owner);
  if (owner !== null) rows.push(['owner', owner]);
  if (module?.digest) rows.push(['digest', module.digest]);
  if (route !== null) rows.push(['route', formatRoute(route)]);
  for (const [name, value] of Object.entries(route?.path_params ?? {})) {
    rows.push(['parameter', `${name} = ${value}`]);
  }
  for (const other of also_matches) rows.push(['also matches', formatRoute(other)]);
  if (body !== null) rows.push(['body', formatBody(body)]);
  return rows.map(([name, text]) => `${name.padEnd(SUBJECT_WIDTH)}${text}`);
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
