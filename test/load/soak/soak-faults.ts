import { setTimeout as pause } from 'node:timers/promises';
import type { Fault, FaultProxy } from '../../support/fault-proxy.js';
import type { FaultCalendar } from './fault-calendar.js';
import type { ProviderProcess } from './provider-process.js';
import { MODULES, UNRELIABLE_TIMEOUT_MS } from './soak-module.js';

/** An offset inside the body of a response, after its head. */
const IN_BODY = 180;
const FAULT_MS = 1000;
const QUIET_MS = 600;

const CONNECTION_FAULTS: readonly {
  readonly fault: Fault;
  readonly failures: readonly string[];
}[] = [
  { fault: { kind: 'latency', ms: 200 }, failures: [] },
  { fault: { kind: 'latency', ms: 2 * UNRELIABLE_TIMEOUT_MS }, failures: ['timeout'] },
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

/** The outcomes if a fault starts or ends during a response. */
const TRANSITION_OUTCOMES = ['502 unavailable', '502 protocol', '502 timeout'];

interface FaultOptions {
  readonly proxy: FaultProxy;
  readonly mortal: ProviderProcess;
  readonly calendar: FaultCalendar;
  readonly signal: AbortSignal;
}

/** Injects faults into the connection to one module and the process of another until the signal is aborted. */
export async function injectFaults(options: FaultOptions): Promise<void> {
  await Promise.all([injectConnectionFaults(options), injectProcessFaults(options)]);
}

async function injectConnectionFaults({ proxy, calendar, signal }: FaultOptions): Promise<void> {
  for (let round = 0; !signal.aborted; round += 1) {
    const { fault, failures } =
      CONNECTION_FAULTS[round % CONNECTION_FAULTS.length] ?? (CONNECTION_FAULTS[0] as never);
    const flaps = round % 5 === 4 && fault.kind !== 'latency' && fault.kind !== 'trickle';
    const explained = failures.length === 0 ? [] : TRANSITION_OUTCOMES;
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

async function injectProcessFaults({ mortal, calendar, signal }: FaultOptions): Promise<void> {
  for (let round = 0; !signal.aborted; round += 1) {
    if (round % 2 === 0) {
      const end = calendar.begin(MODULES.mortal, 'kill -9', TRANSITION_OUTCOMES);
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
