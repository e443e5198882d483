import type { CallEntry } from '../client/call-list.js';
import { toPrintable } from '../output/escape.js';
import { formatTable, type TableColumn } from '../output/table.js';

const COLUMNS: readonly TableColumn[] = [
  { title: 'AT' },
  { title: 'STATUS', align: 'right' },
  { title: 'MODULE' },
  { title: 'METHOD' },
  { title: 'ROUTE' },
  { title: 'MS', align: 'right' },
  { title: 'PROVIDER', align: 'right' },
  { title: 'ATTEMPTS', align: 'right' },
  { title: 'ACTOR' },
  { title: 'FAILURE' },
  { title: 'REQUEST' },
];

/** Formats a table. */
export function formatCalls(calls: readonly CallEntry[]): string {
  return `${formatTable(COLUMNS, calls.map(formatRow)).join('\n')}\n`;
}

/** Formats one call. Columns are not aligned, because later calls are unknown. */
export function formatCallLine(call: CallEntry): string {
  return `${formatRow(call).join('  ')}\n`;
}

function formatRow(call: CallEntry): string[] {
  return [
    call.at,
    String(call.status),
    call.module ?? '-',
    call.method,
    call.route ?? '-',
    call.duration_ms.toFixed(1),
    call.provider_ms?.toFixed(1) ?? '-',
    String(call.attempts),
    call.actor ?? '-',
    formatFailure(call),
    call.request_id,
  ].map(toPrintable);
}

/** `unavailable: ECONNREFUSED 127.0.0.1:4100` */
function formatFailure({ failure, failure_detail }: CallEntry): string {
  if (failure === null) return '-';
  return failure_detail == null ? failure : `${failure}: ${failure_detail}`;
}
