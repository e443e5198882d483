import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyLoad, writeBody } from './load.mjs';
import { headersOf, PAYLOADS } from './payloads.mjs';
import { LOAD_CORE, startServer } from './pinned-process.mjs';
import { readCpuMicroseconds, readPeakKib, resetPeak } from './process-figures.mjs';
import { summarise } from './statistics.mjs';
import { verifyAnswer } from './verify-answer.mjs';

/**
 * @typedef {object} Scenario
 * @property {string} name
 * @property {import('./payloads.mjs').Payload} payload
 * @property {number} connections
 * @property {number} [thinkMs]
 * @property {readonly import('./systems.mjs').System[]} systems
 */

/**
 * @typedef {object} Pace
 * @property {number} rounds
 * @property {number} roundSeconds
 * @property {number} warmUpSeconds
 */

// Above this share of its core the upstream may be the bottleneck.
const MAX_UPSTREAM_SHARE = 0.8;
// wrk counts complete responses only; those in flight at the end of a round are in the bytes, not the count.
const BYTES_TOLERANCE = 0.02;
const MAX_ATTEMPTS = 5;
// After this many requests the hot path is compiled.
const WARM_REQUESTS = 60_000;
const MAX_WARM_UPS = 6;

/**
 * Starts every system, warms it up, and measures them in turns: A B C, A B C, so that noise of the
 * machine affects all of them.
 * @param {Scenario} scenario
 * @param {{ dist: string, pace: Pace, report: (line: string) => void }} options
 */
export async function measureScenario(scenario, { dist, pace, report }) {
  const files = mkdtempSync(join(tmpdir(), 'modgate-bench-body-'));
  const upstream = await startServer(LOAD_CORE, 'upstream.mjs');
  /** @type {Contender[]} */
  const contenders = [];
  try {
    const bodyFile = writeBody(files, scenario.payload);
    for (const system of scenario.systems) {
      const running = await system.start({ upstream, dist });
      const contender = { system, running, rounds: [], bodyBytes: 0 };
      contenders.push(contender);
      contender.bodyBytes = await verifyAnswer(system, running, scenario.payload);
      await warmUp(scenario, running, bodyFile, pace.warmUpSeconds);
      resetPeak(running.pid);
    }
    for (let round = 0; round < pace.rounds; round += 1) {
      // There and back: a fixed order makes a system 2 % better or worse.
      const turn = round % 2 === 0 ? contenders : contenders.toReversed();
      for (const contender of turn) {
        const measured = await measureRound(scenario, contender, upstream, bodyFile, pace);
        contender.rounds.push(measured);
        report(describeRound(scenario, contender, measured));
      }
    }
    return {
      name: scenario.name,
      payload: scenario.payload.name,
      connections: scenario.connections,
      thinkMs: scenario.thinkMs ?? 0,
      systems: Object.fromEntries(contenders.map((one) => [one.system.name, summariseRounds(one)])),
    };
  } finally {
    for (const { running } of contenders) await running.stop();
    await upstream.stop();
    rmSync(files, { recursive: true, force: true });
  }
}

/**
 * @typedef {object} Contender
 * @property {import('./systems.mjs').System} system
 * @property {import('./systems.mjs').RunningSystem} running
 * @property {Round[]} rounds
 * @property {number} bodyBytes
 */

/** @typedef {Awaited<ReturnType<typeof measureRound>>} Round */

function load({ payload, connections, thinkMs }, running, bodyFile, seconds) {
  return applyLoad({
    url: running.url + payload.path,
    headers: { ...running.headers, ...headersOf(payload) },
    bodyFile,
    connections,
    seconds,
    thinkMs,
    spread: running.spread,
  });
}

/**
 * With small requests first, of which there are many in a short time: a host that has answered a thousand
 * large ones is still cold. On a machine that is busy with other things the time alone would leave it cold too.
 */
async function warmUp(scenario, running, bodyFile, seconds) {
  const small = { payload: PAYLOADS[0], connections: scenario.connections };
  let requests = 0;
  for (let attempt = 1; attempt <= MAX_WARM_UPS && requests < WARM_REQUESTS; attempt += 1) {
    requests += (await load(small, running, null, seconds)).requests;
  }
  if (scenario.payload !== small.payload) await load(scenario, running, bodyFile, seconds);
}

/** Repeats a round without a response, which happens on a busy machine. */
async function measureRound(scenario, contender, upstream, bodyFile, pace) {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const round = await tryRound(scenario, contender, upstream, bodyFile, pace);
    if (round.requests > 0) return round;
  }
  throw new Error(`${scenario.name}: ${contender.system.name} answered no request`);
}

async function tryRound(scenario, { running, bodyBytes }, upstream, bodyFile, pace) {
  const servedBefore = await readServed(upstream);
  const upstreamBefore = readCpuMicroseconds(upstream.pid);
  const cpuBefore = readCpuMicroseconds(running.pid);
  const startedAt = performance.now();
  const result = await load(scenario, running, bodyFile, pace.roundSeconds);
  const wallMicroseconds = (performance.now() - startedAt) * 1000;
  const cpu = readCpuMicroseconds(running.pid) - cpuBefore;
  const upstreamCpu = readCpuMicroseconds(upstream.pid) - upstreamBefore;
  const served = (await readServed(upstream)) - servedBefore;
  return {
    requests: result.requests,
    failed: result.failed,
    isShort: result.bytes < result.requests * bodyBytes * (1 - BYTES_TOLERANCE),
    served,
    cpuMicroseconds: cpu / result.requests,
    requestsPerSecond: result.requests / result.seconds,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    hostShare: cpu / wallMicroseconds,
    upstreamShare: upstreamCpu / wallMicroseconds,
    peakMib: readPeakKib(running.pid) / 1024,
  };
}

async function readServed({ url }) {
  const response = await fetch(`${url}/served`);
  return Number(await response.text());
}

function describeRound({ name }, { system }, round) {
  const doubts = [
    round.failed > 0 && `${round.failed} FAILED`,
    round.isShort && 'ANSWERS TOO SHORT',
    round.upstreamShare > MAX_UPSTREAM_SHARE && system.name !== 'direct' && 'UPSTREAM IS BUSY',
  ].filter(Boolean);
  return [
    name.padEnd(34),
    system.name.padEnd(20),
    `${round.cpuMicroseconds.toFixed(1)} µs`.padStart(11),
    `${Math.round(round.requestsPerSecond)}/s`.padStart(9),
    `p50 ${round.p50Ms.toFixed(2)} ms`.padStart(15),
    `p99 ${round.p99Ms.toFixed(2)} ms`.padStart(15),
    `host ${percent(round.hostShare)}`,
    `upstream ${percent(round.upstreamShare)}`,
    ...doubts,
  ].join('  ');
}

function percent(share) {
  return `${Math.round(share * 100)} %`.padStart(5);
}

function summariseRounds({ rounds }) {
  const of = (name) => summarise(rounds.map((round) => round[name]));
  return {
    isSound: rounds.every((round) => round.failed === 0 && !round.isShort),
    requests: rounds.reduce((sum, { requests }) => sum + requests, 0),
    failed: rounds.reduce((sum, { failed }) => sum + failed, 0),
    cpuMicroseconds: of('cpuMicroseconds'),
    requestsPerSecond: of('requestsPerSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    peakMib: of('peakMib'),
    hostShare: of('hostShare'),
    upstreamShare: of('upstreamShare'),
    rounds,
  };
}
