import type { BlastRadius } from '../against/blast-radius.js';
import {
  type CheckedFile,
  type CheckReport,
  readConfigDigest,
  readManifestOf,
  summarize,
} from './check-report.js';

/** The output of `check --json`. */
export function formatCheckJson(report: CheckReport, against: BlastRadius | null): string {
  const { diagnostics, notes, ignored } = report;
  const document = {
    summary: summarize(report),
    files: report.files.map(toWireFile),
    findings: diagnostics.map(({ file, line, column, severity, rule, message, hint }) => ({
      file,
      line,
      column,
      severity,
      rule,
      message,
      hint,
    })),
    notes,
    ignored,
    ...(against !== null && { against }),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function toWireFile(checked: CheckedFile) {
  const { file, kind, module } = checked;
  const manifest = readManifestOf(checked);
  return {
    file,
    kind,
    module,
    enabled: kind === 'descriptor' ? (checked.prepared?.descriptor.enabled ?? null) : null,
    digest: manifest?.digest ?? null,
    config_digest: kind === 'descriptor' ? readConfigDigest(checked) : null,
  };
}
