import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startFaultProxy } from '../../support/fault-proxy.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { createProbe } from '../../support/reload/probed-process.js';
import { FaultCalendar } from './fault-calendar.js';
import { findDisagreements } from './find-disagreements.js';
import { countResources, findGrowth, type Sample, toMib } from './find-growth.js';
import { type CallerRecord, MixedLoad } from './mixed-load.js';
import { ProviderProcess, readArrivals } from './provider-process.js';
import { injectFaults } from './soak-faults.js';
import { SoakHost } from './soak-host.js';
import {
  describeModule,
  MODULES,
  type ModuleName,
  type ProviderEntry,
  writeLocalModule,
} from './soak-module.js';
import { reloadDescriptors, writeDescriptor } from './soak-reloads.js';

interface SoakOptions {
  readonly seconds: number;
  readonly connections?: number;
  /** The pause of a connection between two requests, on average. */
  readonly thinkMs?: number;
  readonly onProgress?: (line: string) => void;
}

interface SoakSummary {
  readonly seconds: number;
  readonly requests: number;
  /** The number of calls by outcome, such as `502 timeout`. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly reloads: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly arrivals: number;
  readonly heap_mib: readonly number[];
  readonly descriptors: readonly number[];
  readonly resources: readonly number[];
  /** Failures that are not explained by a fault. */
  readonly unexplained: readonly string[];
  /** Resources that grew. */
  readonly grown: readonly string[];
  /** Requests for which client, host and provider disagree. */
  readonly disagreements: readonly string[];
  /** Calls in flight at the end by module, and a bad exit of the host. */
  readonly left: readonly string[];
}

const SAMPLES = 12;
const WARM_UP_MS = 3000;
const SETTLE_MS = 20_000;

/** Runs a host under mixed load, reloads and faults. @returns the counts and everything unexpected */
export async function runSoak(options: SoakOptions): Promise<SoakSummary> {
  const directory = mkdtempSync(join(tmpdir(), 'modgate-soak-'));
  const ends: (() => Promise<unknown> | unknown)[] = [
    () => rmSync(directory, { recursive: true, force: true }),
  ];
  try {
    return await soak(options, directory, ends);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

async function soak(
  { seconds, connections = 16, thinkMs = 40, onProgress = () => {} }: SoakOptions,
  directory: string,
  ends: (() => unknown)[],
): Promise<SoakSummary> {
  const journals = ['calm', 'socket', 'mortal', 'local'].map((name) => join(directory, name));
  const [calmJournal = '', socketJournal = '', mortalJournal = '', localJournal = ''] = journals;
  const socket = join(directory, 'provider.sock');
  let load: MixedLoad | undefined;
  const arrived = (requestId: string) => load?.arrived(requestId);
  const calm = new ProviderProcess(calmJournal, '', arrived);
  const unix = new ProviderProcess(socketJournal, socket, arrived);
  const mortal = new ProviderProcess(mortalJournal, '', arrived);
  for (const provider of [calm, unix, mortal]) {
    ends.push(() => provider.kill());
    await provider.start();
  }
  const proxy = await startFaultProxy(calm.port);
  ends.push(() => proxy.stop());

  const folder = join(directory, 'modules.d');
  mkdirSync(join(folder, 'code'), { recursive: true });
  writeFileSync(join(folder, 'code/local.mjs'), writeLocalModule(localJournal));
  writeFileSync(localJournal, '');
  const providers: Record<ModuleName, ProviderEntry> = {
    calm: http(calm.port),
    transient: http(calm.port),
    shaky: http(proxy.port),
    mortal: http(mortal.port),
    socket: { kind: 'unix', config: { socket } },
    local: { kind: 'local', config: { file: './code/local.mjs' } },
  };
  for (const name of Object.values(MODULES)) {
    writeDescriptor(folder, name, describeModule(name, providers[name]));
  }
  const probe = createProbe();
  ends.push(() => probe.remove());
  const host = await SoakHost.start(directory, probe.env);
  ends.push(() => host.child.kill('SIGKILL'));
  onProgress(`the host listens on ${host.url}; ${seconds} s, ${connections} connections`);

  const calendar = new FaultCalendar();
  const stopping = new AbortController();
  load = new MixedLoad(host.url, connections, thinkMs);
  const { signal } = stopping;
  const faults = injectFaults({ proxy, mortal, calendar, signal });
  const reloads = reloadDescriptors({ folder, providers, calendar, signal });

  const samples: Sample[] = [];
  await pause(Math.min(WARM_UP_MS, (seconds * 1000) / 4));
  for (let index = 0; index < SAMPLES; index += 1) {
    await pause((seconds * 1000) / SAMPLES);
    const sample = { ...(await probe.read(host.child.pid ?? 0)), requests: load.records.size };
    samples.push(sample);
    onProgress(describeSample(sample, load, calendar));
  }
  await load.stop();
  stopping.abort();
  const [changes] = await Promise.all([reloads, faults]);

  const left = await waitForRest(host);
  const metrics = await host.readRequests();
  const exit = await host.stop();
  if (exit !== '0') left.push(`the host exited with ${exit}`);
  const lines = await host.readLines();
  const arrivals = journals.flatMap((journal) => readArrivals(journal));
  return {
    seconds,
    requests: load.records.size,
    outcomes: countOutcomes(load.records),
    reloads: changes,
    faults: calendar.counts(),
    arrivals: arrivals.length,
    heap_mib: samples.map(({ heapBytes }) => toMib(heapBytes)),
    descriptors: samples.map(({ descriptors }) => descriptors),
    resources: samples.map(countResources),
    unexplained: listUnexplained(load.records, calendar),
    grown: findGrowth(samples),
    disagreements: findDisagreements({ callers: load.records, lines, arrivals, metrics }),
    left,
  };
}

function http(port: number): ProviderEntry {
  return { kind: 'http', config: { endpoints: [`http://127.0.0.1:${port}`] } };
}

/** Waits until no call is in flight or queued. @returns the gauges that are not 0 */
async function waitForRest(host: SoakHost): Promise<string[]> {
  let left: string[] = [];
  const isEmpty = async () => {
    const gauges = await Promise.all(
      ['modgate_in_flight', 'modgate_queued'].map(async (name) =>
        (await host.readMetric(name)).map(({ labels, value }) => ({ name, labels, value })),
      ),
    );
    left = gauges
      .flat()
      .filter(({ value }) => value !== 0)
      .map(({ name, labels, value }) => `${name} of ${labels['module']} is ${value}`);
    return left.length === 0;
  };
  await waitUntil('nothing in flight', isEmpty, SETTLE_MS).catch(() => {});
  return left;
}

function isExplained({ call, outcome, from, to }: CallerRecord, calendar: FaultCalendar): boolean {
  if (outcome === String(call.status)) return true;
  if (call.isAborted && outcome === 'aborted') return true;
  return calendar.explains(call.module, outcome, from, to);
}

function listUnexplained(
  records: ReadonlyMap<string, CallerRecord>,
  calendar: FaultCalendar,
): string[] {
  return [...records]
    .filter(([, record]) => !isExplained(record, calendar))
    .map(([id, { call, outcome, from, to }]) => {
      const durationMs = Math.round(to - from);
      return `${id}: ${call.kind} of ${call.module}: ${outcome}, expected ${call.status}, after ${durationMs} ms`;
    });
}

function countOutcomes(records: ReadonlyMap<string, CallerRecord>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of records.values()) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

function describeSample(sample: Sample, { records }: MixedLoad, calendar: FaultCalendar): string {
  const unexplained = listUnexplained(records, calendar).length;
  return (
    `${sample.requests} requests, ${unexplained} failures unexplained, ` +
    `heap ${toMib(sample.heapBytes)} MiB, ${sample.descriptors} descriptors`
  );
}
