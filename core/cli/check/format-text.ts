import type { Diagnostic } from '../../document/diagnostic.js';
import { formatCount } from '../../modules/against/format-changes.js';
import { toPrintable } from '../output/escape.js';
import { type CheckReport, summarize } from './check-report.js';

/** One line per diagnostic, in the format of compilers, with a blank line between files. */
export function formatCheckText(report: CheckReport): string {
  const blocks = [
    ...groupByFile(report.diagnostics).map((diagnostics) => diagnostics.map(formatLine)),
    report.notes.map(({ file, message }) => `${file}: note: ${message}`),
    report.ignored.map(({ file, reason }) => `${file}: ignored: ${reason}`),
    [formatSummary(report)],
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.map(toPrintable).join('\n')}\n`)
    .join('\n');
}

/** `modules.d/crm.yaml:3:5: error: unknown key 'retires' (did you mean 'retry'?) [unknown-key]` */
function formatLine({ file, line, column, severity, message, hint, rule }: Diagnostic): string {
  const place = line === null ? '' : `:${line}:${column ?? 1}`;
  const advice = hint === null ? '' : ` (${hint})`;
  return `${file}${place}: ${severity}: ${message}${advice} [${rule}]`;
}

function groupByFile(diagnostics: readonly Diagnostic[]): Diagnostic[][] {
  const groups = new Map<string, Diagnostic[]>();
  for (const diagnostic of diagnostics) {
    const group = groups.get(diagnostic.file) ?? [];
    groups.set(diagnostic.file, [...group, diagnostic]);
  }
  return [...groups.values()];
}

function formatSummary(report: CheckReport): string {
  const { files, errors, warnings } = summarize(report);
  const parts = [
    formatCount(files, 'file'),
    formatCount(errors, 'error'),
    formatCount(warnings, 'warning'),
  ];
  return parts.join(', ');
}
