import { dirname, join } from 'node:path';
import type { Descriptor } from '../../descriptor/descriptor.js';
import { isPlainEnvelope } from '../../descriptor/expose-headers.js';
import type { Path } from '../../document/diagnostic.js';
import type { LiveRoute } from '../../modules/live-module.js';
import type { ExplainedModule, ExplainedRecord, ModuleDocuments } from './explained-request.js';
import type { ExplainedLimit } from './explanation.js';

type Document = Awaited<ReturnType<ModuleDocuments['read']>>;

interface LimitRule {
  readonly path: readonly [string, string] | readonly [string];
  read(descriptor: Descriptor): number | string;
}

/** Named as in the descriptor. */
const LIMITS: readonly LimitRule[] = [
  { path: ['limits', 'timeout_ms'], read: ({ limits }) => limits.timeoutMs },
  { path: ['limits', 'request_bytes'], read: ({ limits }) => limits.requestBytes },
  { path: ['limits', 'response_bytes'], read: ({ limits }) => limits.responseBytes },
  { path: ['limits', 'concurrency'], read: ({ limits }) => limits.concurrency },
  { path: ['limits', 'queue'], read: ({ limits }) => limits.queue },
  { path: ['limits', 'queue_ms'], read: ({ limits }) => limits.queueMs },
  { path: ['rate', 'per_second'], read: ({ rate }) => rate.perSecond },
  { path: ['rate', 'burst'], read: ({ rate }) => rate.burst },
  { path: ['rate', 'actor_per_second'], read: ({ rate }) => rate.actorPerSecond },
  { path: ['rate', 'actor_burst'], read: ({ rate }) => rate.actorBurst },
  { path: ['retry', 'attempts'], read: ({ retry }) => retry.attempts },
  { path: ['retry', 'budget'], read: ({ retry }) => retry.budget },
  { path: ['breaker', 'failures'], read: ({ breaker }) => breaker.failures },
  { path: ['breaker', 'ratio'], read: ({ breaker }) => breaker.ratio },
  { path: ['breaker', 'window_ms'], read: ({ breaker }) => breaker.windowMs },
  { path: ['breaker', 'open_ms'], read: ({ breaker }) => breaker.openMs },
  { path: ['breaker', 'max_open_ms'], read: ({ breaker }) => breaker.maxOpenMs },
];

const PROVIDER_ERRORS: LimitRule = {
  path: ['provider_errors'],
  read: ({ providerErrors }) => providerErrors,
};

/** Listed where they differ from their defaults. */
const RESPONSES: readonly LimitRule[] = [
  { path: ['responses', 'mode'], read: ({ responses }) => responses.mode },
  {
    path: ['responses', 'expose_headers'],
    read: ({ responses }) => responses.exposeHeaders.join(' ') || 'none',
  },
];

/** In raw mode `provider_errors` has no effect. */
function listRules({ responses }: Descriptor): readonly LimitRule[] {
  return [
    ...LIMITS,
    ...(responses.mode === 'raw' ? [] : [PROVIDER_ERRORS]),
    ...(isPlainEnvelope(responses) ? [] : RESPONSES),
  ];
}

/** States that serve an earlier version of the file, whose line numbers are unknown. */
const OUTDATED_STATES: ReadonlySet<string> = new Set(['stale', 'rolled_back']);

/** The limits in force for a call of the route, with the file and line that set each. */
export async function explainLimits(
  record: ExplainedRecord,
  route: LiveRoute | null,
  documents: ModuleDocuments,
): Promise<ExplainedLimit[]> {
  const { live, file, state } = record;
  if (live === null) return [];
  const document = OUTDATED_STATES.has(state) ? null : await documents.read(file);
  const limits = listRules(live.descriptor).map(({ path, read }): ExplainedLimit => {
    const source = findSource(file, document, path) ?? (document === null ? null : 'default');
    return { name: path.join('.'), value: read(live.descriptor), source };
  });
  if (route === null || route.timeoutMs >= live.descriptor.limits.timeoutMs) return limits;
  const name = 'operation.timeout_ms';
  const source = await findRouteSource(record, live, route, document, documents);
  return [{ name, value: route.timeoutMs, source }, ...limits];
}

/** Where the manifest shortens the timeout of the route. */
async function findRouteSource(
  record: ExplainedRecord,
  { descriptor, manifest }: ExplainedModule,
  route: LiveRoute,
  document: Document,
  documents: ModuleDocuments,
): Promise<string | null> {
  const index = manifest.http_routes.indexOf(route.declared);
  const path = ['http_routes', index, 'operation', 'timeout_ms'];
  const source = descriptor.manifest;
  if (document === null) return null;
  if (source.kind === 'inline') {
    return findSource(record.file, document, ['manifest', 'inline', ...path]);
  }
  if (source.kind !== 'file') return 'manifest';
  const file = join(dirname(record.file), source.path);
  return findSource(file, await documents.read(file), path);
}

function findSource(file: string, document: Document, path: Path): string | null {
  if (document === null || !hasPath(document.value, path)) return null;
  const { line, column } = document.locate(path, 'key');
  return `${file}:${line}:${column}`;
}

function hasPath(value: unknown, [key, ...rest]: Path): boolean {
  if (key === undefined) return true;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false;
  return hasPath((value as Record<string | number, unknown>)[key], rest);
}
