import type { CallEntry } from '../client/call-list.js';
import { toPrintable } from '../output/escape.js';

/** The longest name and a gap. */
const NAME_WIDTH = 'attempts'.length + 2;

/** Formats each call as a block, with the reason of its failure. */
export function formatCallDetails(calls: readonly CallEntry[]): string {
  return calls.map((call) => `${formatBlock(call).map(toPrintable).join('\n')}\n`).join('\n');
}

function formatBlock(call: CallEntry): string[] {
  const { at, method, module, route, status, failure, failure_detail } = call;
  const subject = [method, module ?? 'no module', route ?? 'no route'].join(' ');
  const rows: [string, string | null | undefined][] = [
    ['at', at],
    ['request', call.request_id],
    ['actor', call.actor],
    ['failure', failure],
    ['detail', failure_detail],
    ['endpoint', call.endpoint],
    ['attempts', String(call.attempts)],
    ['duration', formatDuration(call)],
  ];
  return [`${subject} => ${status}`, ...rows.flatMap(formatRow)];
}

function formatRow([name, value]: readonly [string, string | null | undefined]): string[] {
  return value == null ? [] : [`${name.padEnd(NAME_WIDTH)}${value}`];
}

function formatDuration({ duration_ms, provider_ms }: CallEntry): string {
  const whole = `${duration_ms.toFixed(1)} ms`;
  return provider_ms === null ? whole : `${whole}, provider ${provider_ms.toFixed(1)} ms`;
}
