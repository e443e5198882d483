import { formatBlocks } from '../output/escape.js';
import type { ManifestChange } from './compare-manifests.js';
import { isOperation, SHARED_ROUTE, type UnmappedPart } from './unmapped.js';

export interface ImportReport {
  readonly module: string;
  readonly routes: number;
  readonly capabilities: readonly string[];
  /** Files that were created or changed. */
  readonly written: readonly string[];
  /** Differences from the files of an earlier import; `null` for a first import. */
  readonly changes: readonly ManifestChange[] | null;
  readonly unmapped: readonly UnmappedPart[];
  readonly notes: readonly string[];
}

const MARKS = { added: '+', removed: '-', changed: '~' } as const;

export function formatImport(report: ImportReport): string {
  const { written, changes, unmapped, notes } = report;
  return formatBlocks([
    ...written.map((file) => `wrote ${file}`),
    ...(changes === null ? [formatSummary(report)] : formatChanges(changes, written.length > 0)),
    ...formatUnmapped(unmapped),
    ...notes.map((note) => `note: ${note}`),
  ]);
}

function formatSummary({ module, routes, capabilities, unmapped }: ImportReport): string {
  const names = capabilities.length === 0 ? 'none' : capabilities.join(', ');
  const mapped = routes + unmapped.filter(({ part }) => part === SHARED_ROUTE).length;
  const operations = mapped + unmapped.filter(isOperation).length;
  return `module ${module}: ${mapped} of ${operations} operations became routes, capabilities: ${names}`;
}

function formatChanges(changes: readonly ManifestChange[], isWritten: boolean): string[] {
  if (changes.length === 0) return ['no differences'];
  const lines = changes.map(({ change, place, pointer, affectsClients }) => {
    const where = pointer === undefined || pointer === '' ? '' : ` ${pointer}`;
    return `  ${MARKS[change]} ${place}${where}${affectsClients ? '' : ' (clients do not notice)'}`;
  });
  return ['differences:', ...lines, ...(isWritten ? [] : ['use --write to write them'])];
}

/** Formats one line for each reason, since large documents repeat them. */
function formatUnmapped(unmapped: readonly UnmappedPart[]): string[] {
  if (unmapped.length === 0) return [];
  const places = new Map<string, string[]>();
  for (const { place, part, reason } of unmapped) {
    const key = `${part}: ${reason}`;
    places.set(key, [...(places.get(key) ?? []), place]);
  }
  return [
    'not mapped (--json lists each place):',
    ...[...places].map(([reason, [first, ...others]]) => {
      const suffix = others.length === 0 ? '' : ` and ${others.length} more`;
      return `  ${others.length + 1} × ${reason} (${first}${suffix})`;
    }),
  ];
}
