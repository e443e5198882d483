import { setTimeout as pause } from 'node:timers/promises';
import type { Fault, FaultProxy } from '../../support/fault-proxy.js';
import type { FaultCalendar } from './fault-calendar.js';
import type { ProviderProcess } from './provider-process.js';
import { HARMED_TIMEOUT_MS, MODULES } from './soak-module.js';

/** Inside the body of an answer of Node, behind its head. */
const IN_BODY = 180;
const FAULT_MS = 1000;
const QUIET_MS = 600;

const ON_THE_WAY: readonly { readonly fault: Fault; readonly failures: readonly string[] }[] = [
  { fault: { kind: 'latency', ms: 200 }, failures: [] },
  { fault: { kind: 'latency', ms: 2 * HARMED_TIMEOUT_MS }, failures: ['timeout'] },
  { fault: { kind: 'refuse' }, failures: ['unavailable'] },
  { fault: { kind: 'hang_up' }, failures: ['unavailable'] },
  { fault: { kind: 'reset' }, failures: ['unavailable'] },
  { fault: { kind: 'reset', afterBytes: IN_BODY }, failures: ['unavailable', 'protocol'] },
  { fault: { kind: 'half_close' }, failures: ['unavailable'] },
  { fault: { kind: 'half_close', afterBytes: IN_BODY }, failures: ['unavailable', 'protocol'] },
  { fault: { kind: 'blackhole' }, failures: ['timeout'] },
  { fault: { kind: 'corrupt', atByte: 0 }, failures: ['protocol'] },
  { fault: { kind: 'trickle', bytes: 20, everyMs: 10 }, failures: [] },
  { fault: { kind: 'trickle', bytes: 1, everyMs: 100 }, failures: ['timeout'] },
];

/** Of a fault that is taken off, or put on, while an answer is on its way. */
const AT_THE_EDGE = ['502 unavailable', '502 protocol', '502 timeout'];

export interface FaultOptions {
  readonly proxy: FaultProxy;
  readonly mortal: ProviderProcess;
  readonly calendar: FaultCalendar;
  readonly signal: AbortSignal;
}

/** Harms the way to one module, and the process of another, in turn, until the signal. */
export async function injectFaults(options: FaultOptions): Promise<void> {
  await Promise.all([harmWay(options), harmProcess(options)]);
}

async function harmWay({ proxy, calendar, signal }: FaultOptions): Promise<void> {
  for (let round = 0; !signal.aborted; round += 1) {
    const { fault, failures } = ON_THE_WAY[round % ON_THE_WAY.length] ?? (ON_THE_WAY[0] as never);
    const flaps = round % 5 === 4 && fault.kind !== 'latency' && fault.kind !== 'trickle';
    const explained = failures.length === 0 ? [] : AT_THE_EDGE;
    const end = calendar.begin(
      MODULES.shaky,
      flaps ? `${fault.kind}, flapping` : fault.kind,
      explained,
    );
    if (flaps) proxy.flap(fault, 50);
    else await proxy.set(fault);
    await rest(FAULT_MS, signal);
    await proxy.set({ kind: 'none' });
    end();
    await rest(QUIET_MS, signal);
  }
}

async function harmProcess({ mortal, calendar, signal }: FaultOptions): Promise<void> {
  for (let round = 0; !signal.aborted; round += 1) {
    if (round % 2 === 0) {
      const end = calendar.begin(MODULES.mortal, 'kill -9', AT_THE_EDGE);
      await mortal.kill();
      await rest(FAULT_MS / 2, signal);
      await mortal.start();
      end();
    } else {
      const end = calendar.begin(MODULES.mortal, 'status 500', ['502 status', '502 unavailable']);
      mortal.fail(true);
      await rest(FAULT_MS, signal);
      mortal.fail(false);
      end();
    }
    await rest(2 * QUIET_MS, signal);
  }
}

function rest(ms: number, signal: AbortSignal): Promise<void> {
  return pause(ms, undefined, { signal }).catch(() => {});
}
