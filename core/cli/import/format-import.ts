import { toPrintable } from '../output/escape.js';
import type { ManifestChange } from './compare-manifests.js';
import type { UnmappedPart } from './unmapped.js';

export interface ImportReport {
  readonly module: string;
  readonly routes: number;
  readonly capabilities: readonly string[];
  /** Files that were created or changed. */
  readonly written: readonly string[];
  /** Differences from the files of an earlier import; `null` for a first one. */
  readonly changes: readonly ManifestChange[] | null;
  readonly unmapped: readonly UnmappedPart[];
  readonly notes: readonly string[];
}

const MARKS = { added: '+', removed: '-', changed: '~' } as const;

/** Places of one reason that are listed by name. */
const MAX_PLACES = 5;

export function formatImport(report: ImportReport): string {
  const { written, changes, unmapped, notes } = report;
  const lines = [
    ...written.map((file) => `wrote ${file}`),
    ...(changes === null ? [formatSummary(report)] : formatChanges(changes, written.length > 0)),
    ...formatUnmapped(unmapped),
    ...notes.map((note) => `note: ${note}`),
  ];
  return `${lines.map(toPrintable).join('\n')}\n`;
}

function formatSummary({ module, routes, capabilities }: ImportReport): string {
  const names = capabilities.length === 0 ? 'none' : capabilities.join(', ');
  return `module ${module}: ${routes} routes, capabilities: ${names}`;
}

function formatChanges(changes: readonly ManifestChange[], isWritten: boolean): string[] {
  if (changes.length === 0) return ['no differences'];
  const lines = changes.map(({ change, place, pointer, affectsClients }) => {
    const where = pointer === undefined || pointer === '' ? '' : ` ${pointer}`;
    return `  ${MARKS[change]} ${place}${where}${affectsClients ? '' : ' (clients do not notice)'}`;
  });
  return ['differences:', ...lines, ...(isWritten ? [] : ['use --write to write them'])];
}

/** One block for each reason, since large documents repeat them. */
function formatUnmapped(unmapped: readonly UnmappedPart[]): string[] {
  if (unmapped.length === 0) return [];
  const places = new Map<string, UnmappedPart[]>();
  for (const one of unmapped) {
    const key = `${one.part}: ${one.reason}`;
    places.set(key, [...(places.get(key) ?? []), one]);
  }
  return [
    'not mapped:',
    ...[...places].flatMap(([reason, parts]) => [
      `  ${reason}`,
      ...parts.slice(0, MAX_PLACES).map(({ place }) => `    ${place}`),
      ...(parts.length > MAX_PLACES
        ? [`    and ${parts.length - MAX_PLACES} more: --json lists all`]
        : []),
    ]),
  ];
}
