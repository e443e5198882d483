import { relative, resolve, sep } from 'node:path';
import type { Diagnostic } from '../../document/diagnostic.js';
import type { CheckNote, CheckReport } from './check-report.js';

const SCHEMA =
  'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';
const NOTE_RULE = 'note';

interface SarifResult {
  readonly rule: string;
  readonly level: 'error' | 'warning' | 'note';
  readonly text: string;
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
}

/** SARIF 2.1.0 for code hosts and editors. URIs are relative to the working directory. */
export function formatCheckSarif(report: CheckReport, version: string): string {
  const results = [...report.diagnostics.map(fromDiagnostic), ...report.notes.map(fromNote)];
  const rules = [...new Set(results.map(({ rule }) => rule))].sort();
  const log = {
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'modgate', version, rules: rules.map(describeRule) } },
        columnKind: 'utf16CodeUnits',
        results: results.map((result) => describeResult(result, rules)),
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function fromDiagnostic(diagnostic: Diagnostic): SarifResult {
  const { rule, severity, message, hint, file, line, column } = diagnostic;
  const text = hint === null ? message : `${message} (${hint})`;
  return { rule, level: severity, text, file, line, column };
}

function fromNote({ file, message }: CheckNote): SarifResult {
  return { rule: NOTE_RULE, level: 'note', text: message, file, line: null, column: null };
}

function describeRule(id: string) {
  return { id, shortDescription: { text: id.replaceAll('-', ' ') } };
}

function describeResult(result: SarifResult, rules: readonly string[]) {
  const { rule, level, text, file, line, column } = result;
  const region = line === null ? {} : { region: { startLine: line, startColumn: column ?? 1 } };
  return {
    ruleId: rule,
    ruleIndex: rules.indexOf(rule),
    level,
    message: { text },
    locations: [
      { physicalLocation: { artifactLocation: { uri: toRelativeUri(file) }, ...region } },
    ],
  };
}

function toRelativeUri(file: string): string {
  const path = relative(process.cwd(), resolve(file));
  return path.split(sep).map(encodeURIComponent).join('/');
}
