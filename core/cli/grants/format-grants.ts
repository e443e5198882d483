import { toPrintable } from '../output/escape.js';
import { formatTable } from '../output/table.js';
import type { GrantsReport, Pin, ReportedPermission } from './grants-report.js';

const PINS: Readonly<Record<Pin, string>> = {
  absent: 'none: the grants apply to any manifest',
  fits: 'matches the manifest',
  differs: 'does NOT match the manifest: a host rejects it',
  unknown: 'cannot be compared: the manifest is not available offline',
};

const SOURCES: Readonly<Record<GrantsReport['manifest_from'], string>> = {
  file: '',
  inline: '',
  url: 'comes from a URL and is not fetched',
  provider: 'comes from the provider and is not fetched',
};

/** Prints the digests, then each permission and what it opens. */
export function formatGrants(report: GrantsReport): string {
  const blocks = [formatSubjects(report), formatPermissions(report)];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.map(toPrintable).join('\n')}\n`)
    .join('\n');
}

function formatSubjects(report: GrantsReport): string[] {
  const { module, file, enabled, manifest_digest, manifest_from, pin, release, ui } = report;
  const disabled = enabled ? '' : ', disabled';
  const rows: [string, string][] = [
    ['module', `${module} (${file}${disabled})`],
    ['manifest', manifest_digest ?? SOURCES[manifest_from]],
    ['pin', PINS[pin]],
    ['release', release ?? 'the digest of the manifest'],
    ...(ui.length === 0 ? ['none: no console may call the module'] : ui).map(
      (digest): [string, string] => ['ui', digest],
    ),
  ];
  return rows.map(([name, text]) => `${name.padEnd(SUBJECT_WIDTH)}${text}`);
}

/** The longest name and a gap. */
const SUBJECT_WIDTH = 'manifest'.length + 2;

function formatPermissions({ permissions }: GrantsReport): string[] {
  if (permissions.length === 0) return [];
  const columns = [{ title: 'permission' }, { title: 'granted' }, { title: 'opens' }];
  return formatTable(
    columns,
    permissions.map((entry) => [
      entry.permission,
      entry.granted ? 'yes' : 'no',
      describeOpened(entry),
    ]),
  );
}

function describeOpened({ declared, opens }: ReportedPermission): string {
  if (declared === false) return 'nothing: the manifest does not declare it';
  return opens.join(', ');
}
