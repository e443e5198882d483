import { dirname, join } from 'node:path';
import type { Descriptor } from '../../descriptor/descriptor.js';
import { isPlainEnvelope, type Responses } from '../../descriptor/sections/responses.js';
import { LISTED_SECTIONS } from '../../descriptor/sections.js';
import type { Path } from '../../document/diagnostic.js';
import type { LiveRoute, RoutedModule } from '../../modules/live-module.js';
import type { ExplainedRecord, ModuleDocuments } from './explained-request.js';
import type { ExplainedLimit } from './explanation.js';

type Document = Awaited<ReturnType<ModuleDocuments['read']>>;

/** A section may contain a section. */
type Value = number | string | boolean | Readonly<Record<string, number | string>>;

type Values = Readonly<Record<string, Value | undefined>>;

interface Limit {
  readonly path: readonly string[];
  readonly value: number | string;
}

/** Omits `provider_errors` and `responses`, which are listed where they have an effect. */
function listLimits(descriptor: Descriptor): readonly Limit[] {
  const { responses, provider_errors } = descriptor;
  const { mode } = responses;
  return [
    ...LISTED_SECTIONS.flatMap(([name, { isLimit, struct }]) =>
      // In the order of the declaration, not of the file.
      isLimit ? listMembers(name, Object.keys(struct.schema), descriptor[name] as Values) : [],
    ),
    ...(mode === 'raw' ? [] : [{ path: ['provider_errors'], value: provider_errors }]),
    ...(isPlainEnvelope(responses) && responses.problems === 'problem'
      ? []
      : listResponses(responses)),
  ];
}

function listResponses({ mode, expose_headers, origins, redirects, problems }: Responses): Limit[] {
  const values = {
    mode,
    expose_headers: describeList(expose_headers),
    ...(origins.length > 0 && { origins: describeList(origins) }),
    ...(redirects.length > 0 && { redirects: describeList(redirects) }),
    ...(problems !== 'problem' && { problems }),
  };
  return listMembers('responses', Object.keys(values), values);
}

function describeList(names: readonly string[]): string {
  return names.join(' ') || 'none';
}

function listMembers(section: string, names: readonly string[], values: Values): Limit[] {
  return names.flatMap((name): Limit[] => {
    const value = values[name];
    if (value === undefined) return [];
    const path = [section, name];
    if (typeof value === 'boolean') return value ? [{ path, value: String(value) }] : [];
    if (typeof value !== 'object') return [{ path, value }];
    return Object.entries(value).map(([inner, member]) => ({
      path: [...path, inner],
      value: member,
    }));
  });
}

/** States that serve an earlier version of the file, whose line numbers are unknown. */
const OUTDATED_STATES: ReadonlySet<string> = new Set(['stale', 'rolled_back']);

/** The limits that apply to a call of the route, with the file and line that set each. */
export async function explainLimits(
  record: ExplainedRecord,
  route: LiveRoute | null,
  documents: ModuleDocuments,
): Promise<ExplainedLimit[]> {
  const { live, file, state } = record;
  if (live === null) return [];
  const document = OUTDATED_STATES.has(state) ? null : await documents.read(file);
  const limits = listLimits(live.descriptor).map(({ path, value }): ExplainedLimit => {
    const source = findSource(file, document, path) ?? (document === null ? null : 'default');
    return { name: path.join('.'), value, source };
  });
  if (route === null || route.timeoutMs >= live.descriptor.limits.timeout_ms) return limits;
  const name = 'operation.timeout_ms';
  const source = await findRouteSource(record, live, route, document, documents);
  return [{ name, value: route.timeoutMs, source }, ...limits];
}

/** The place at which the manifest shortens the timeout of the route. */
async function findRouteSource(
  record: ExplainedRecord,
  { descriptor, manifest }: RoutedModule,
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
