import { toPrintable } from '../output/escape.js';
import { formatTable } from '../output/table.js';
import type { GrantsReport, Pin, ReportedPermission } from './grants-report.js';

const PINS: Readonly<Record<Pin, string>> = {
  absent: 'none: the grants are for whatever manifest is read',
  fits: 'fits the manifest',
  differs: 'does NOT fit the manifest: a host refuses it',
  unknown: 'cannot be compared: the manifest is not at hand',
};

const SOURCES: Readonly<Record<GrantsReport['manifest_from'], string>> = {
  file: '',
  inline: '',
  url: 'comes from a URL: it is not fetched',
  provider: 'comes from the provider: it is not asked',
};

/** For people: the digests, then each permission with what it opens. */
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
    ...(ui.length === 0 ? ['none: no console may call'] : ui).map((digest): [string, string] => [
      'ui',
      digest,
    ]),
  ];
  return rows.map(([name, text]) => `${name.padEnd(SUBJECT_WIDTH)}${text}`);
}

/** Of the longest name, and a gap. */
const SUBJECT_WIDTH = 'manifest'.length + 2;

function formatPermissions({ permissions }: GrantsReport): string[] {
  if (permissions.length === 0) return [];
  const columns = [{ title: 'permission' }, { title: 'granted' }, { title: 'opens' }];
  return formatTable(
    columns,
    permissions.map((one) => [one.permission, one.granted ? 'yes' : 'no', describeOpened(one)]),
  );
}

function describeOpened({ declared, opens }: ReportedPermission): string {
  if (declared === false) return 'nothing: the manifest does not declare it';
  return opens.join(', ');
}
