import type { Diagnostic } from '../../document/diagnostic.js';
import { formatCount } from '../../modules/against/format-changes.js';
import { formatBlocks } from '../output/escape.js';
import { type CheckReport, summarize } from './check-report.js';

/** One line per diagnostic, in the format of compilers, with a blank line between files. */
export function formatCheckText(report: CheckReport): string {
  const { files, errors, warnings } = summarize(report);
  const summary = [
    formatCount(files, 'file'),
    formatCount(errors, 'error'),
    formatCount(warnings, 'warning'),
  ];
  const byFile = new Map<string, string[]>();
  for (const diagnostic of report.diagnostics) {
    const lines = byFile.get(diagnostic.file) ?? [];
    byFile.set(diagnostic.file, [...lines, formatLine(diagnostic)]);
  }
  return formatBlocks(
    ...byFile.values(),
    report.notes.map(({ file, message }) => `${file}: note: ${message}`),
    report.ignored.map(({ file, reason }) => `${file}: ignored: ${reason}`),
    [summary.join(', ')],
  );
}

/** `modules.d/crm.yaml:3:5: error: unknown key 'retires' (did you mean 'retry'?) [unknown-key]` */
function formatLine({ file, line, column, severity, message, hint, rule }: Diagnostic): string {
  const place = line === null ? '' : `:${line}:${column ?? 1}`;
  const advice = hint === null ? '' : ` (${hint})`;
  return `${file}${place}: ${severity}: ${message}${advice} [${rule}]`;
}
