import type { ClauseResult } from '../../testkit/index.js';
import { toPrintable } from '../output/escape.js';

/** The results of one adapter or authenticator. */
export interface SubjectScore {
  /** `adapter 'http'`. */
  readonly subject: string;
  readonly clauses: readonly ClauseResult[];
  /** The reason why there are no results; `null` with results. */
  readonly reason: string | null;
}

interface Scorecard {
  readonly plugin: { readonly name: string; readonly version: string; readonly folder: string };
  readonly subjects: readonly SubjectScore[];
}

interface Summary {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const MARKS: Readonly<Record<ClauseResult['status'], string>> = {
  pass: 'ok  ',
  fail: 'FAIL',
  skip: 'skip',
};

/** A subject that could not be tested counts as one failure. */
export function summarizeScores(subjects: readonly SubjectScore[]): Summary {
  const results = subjects.flatMap(({ clauses }) => clauses);
  const count = (status: ClauseResult['status']) =>
    results.filter((result) => result.status === status).length;
  const untested = subjects.filter(({ reason }) => reason !== null).length;
  return { passed: count('pass'), failed: count('fail') + untested, skipped: count('skip') };
}

/** Formats one line, and the reason of a clause that failed or was skipped. */
export function formatClause({ id, title, status, reason }: ClauseResult): string {
  const line = `  ${MARKS[status]}  ${id}: ${title}\n`;
  return reason === null ? line : `${line}        ${formatReason(reason)}\n`;
}

export function formatSummary(subjects: readonly SubjectScore[]): string {
  const { passed, failed, skipped } = summarizeScores(subjects);
  return `\n${passed} passed, ${failed} failed, ${skipped} skipped\n`;
}

export function formatScorecardJson({ plugin, subjects }: Scorecard): string {
  const card = {
    plugin,
    summary: summarizeScores(subjects),
    subjects: subjects.map(({ subject, clauses, reason }) => ({
      subject,
      reason,
      clauses: clauses.map(({ error: _error, durationMs, ...clause }) => ({
        ...clause,
        duration_ms: durationMs,
      })),
    })),
  };
  return `${JSON.stringify(card, null, 2)}\n`;
}

/** Indents the diff of an assertion below the first line. */
function formatReason(reason: string): string {
  const [first = '', ...others] = reason.split('\n').filter((line) => line.trim() !== '');
  return [first, ...others.map((line) => `        ${line}`)].map(toPrintable).join('\n');
}
