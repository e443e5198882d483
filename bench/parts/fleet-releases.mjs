// The scenarios of bench/fleet.mjs in which hosts follow releases under load: publish, rollback, and the canary of a
// release that fails. Releases differ in one module; calls of the other one must not fail.
import { setTimeout as pause } from 'node:timers/promises';
import { describeModule, ITEMS, postJson, readJson, startLoad, waitUntil } from './fleet-parts.mjs';
import { readCpuMicroseconds } from './process-figures.mjs';
import { summarise } from './statistics.mjs';

const LOAD_MS = 18_000;
const PAUSE_MS = 300;
const QUIET_ROUNDS = 10;
const QUIET_MS = 1000;
const POLL_MS = 20;
/** For each of the two modules. */
const CLIENTS = 8;
const SHARE = 0.1;
const PROBATION = { seconds: 10, min_calls: 10, max_error_rate: 0.05 };
const CHANGED = ITEMS.replace('crm', 'changed');
/** No server listens there. */
const CLOSED = 'http://127.0.0.1:1';

/** @param options `balanced` is the port of the load balancer, to which changes go, too */
export function createReleaseScenarios({ balanced, provider, count, print, listHosts }) {
  const url = `http://127.0.0.1:${balanced}`;
  let version = 0;
  let active = null;

  const publish = async (endpoint = provider, members = {}) => {
    version += 1;
    const limits = { timeout_ms: 5000 + version };
    const descriptors = {
      'crm.json': describeModule('crm', provider),
      'changed.json': describeModule('changed', endpoint, { probation: PROBATION, limits }),
    };
    const files = Object.fromEntries(
      Object.entries(descriptors).map(([path, descriptor]) => [
        path,
        Buffer.from(JSON.stringify(descriptor)).toString('base64'),
      ]),
    );
    const { release, outcome } = await postJson(`${url}/releases`, {
      ...{ files, base: active },
      ...members,
    });
    if (outcome === 'active') active = release;
    return release;
  };
  const readFleet = () => readJson(`${url}/fleet`);
  /** Until all hosts report that they serve the same, and that it is what is expected. */
  const untilAgreed = (isExpected) =>
    waitUntil(
      'agreement',
      async () => {
        const { agreed, digest, hosts } = await readFleet();
        const ready = hosts.filter(({ state }) => state === 'ready');
        return agreed && ready.length === count && isExpected(digest);
      },
      POLL_MS,
    );

  /**
   * Until the store has the change, the last host has written the release and serves its module, by the logs of the
   * hosts, and all of them report it.
   */
  const timeChange = async (change, before) => {
    const start = performance.now();
    const began = Date.now();
    await change();
    const stored_ms = performance.now() - start;
    await untilAgreed((digest) => digest !== before);
    const agreed_ms = performance.now() - start;
    let logged = {};
    // Lines are written in batches.
    await waitUntil('the log', () => {
      logged = readLogged(began);
      return Object.values(logged).every(Number.isFinite);
    });
    return { stored_ms, ...logged, agreed_ms };
  };
  const readLogged = (began) => {
    const lines = listHosts().map((host) =>
      host.readLog().filter(({ time }) => Date.parse(time) >= began),
    );
    const lastOf = (isWanted) =>
      Math.max(...lines.map((own) => Date.parse(own.find(isWanted)?.time) - began));
    return {
      written_ms: lastOf(({ msg }) => msg === 'release served'),
      served_ms: lastOf(({ msg, module }) => msg === 'module changed' && module === 'changed'),
    };
  };
  /** The CPU time of a host, in milliseconds, while changes are made. */
  const readCost = async (change) => {
    const read = () => listHosts().reduce((sum, { pid }) => sum + readCpuMicroseconds(pid), 0);
    const before = read();
    for (let round = 0; round < QUIET_ROUNDS; round += 1) {
      const end = performance.now() + QUIET_MS;
      await change();
      await pause(Math.max(0, end - performance.now()));
    }
    return (read() - before) / 1000 / count;
  };

  /** Makes changes while clients call both modules. */
  const measure = async (scenario, change) => {
    const load = (path) => startLoad(balanced, { path, clients: CLIENTS });
    const loads = [load(ITEMS), load(CHANGED)];
    const times = [];
    let answers;
    try {
      const end = performance.now() + LOAD_MS;
      while (performance.now() < end) {
        const { digest } = await readFleet();
        const began = performance.now();
        times.push(await change(digest, () => performance.now() - began));
        await pause(PAUSE_MS);
      }
    } finally {
      answers = await Promise.all(loads.map(({ stop }) => stop()));
    }
    const [unaffected, changed] = answers;
    print(scenario, { changes: times.length, ...summariseAll(times), unaffected, changed });
  };

  const scenarios = {
    publish: () => measure('publish', (before) => timeChange(publish, before)),
    /** To and fro between two releases. */
    rollback: async () => {
      const { digest: first } = await readFleet();
      let target = active;
      await publish();
      await untilAgreed((digest) => digest !== first);
      const goBack = async () => {
        await postJson(`${url}/rollback`, { release: target });
        [active, target] = [target, active];
      };
      await measure('rollback', (before) => timeChange(goBack, before));
    },
    /** All calls of the changed module fail on the host that tries the release. */
    canary: () =>
      measure('canary', async (before, elapsed) => {
        const tried = await publish(CLOSED, { canary: { share: SHARE } });
        const isTried = async () => (await readFleet()).agreed === false;
        await waitUntil('the canary', isTried, POLL_MS);
        let verdict = null;
        const isDecided = async () => {
          const { releases } = await readJson(`${url}/releases`);
          ({ verdict } = releases.find(({ release }) => release === tried));
          return verdict !== null;
        };
        await waitUntil('the verdict', isDecided, POLL_MS);
        if (verdict.outcome !== 'failed') throw new Error(`canary: ${JSON.stringify(verdict)}`);
        const decided = elapsed();
        await untilAgreed((digest) => digest === before);
        return { decided_ms: decided, agreed_ms: elapsed(), back_ms: elapsed() - decided };
      }),
    /** Without load: how soon a publish is served, and the CPU time that it costs each host. */
    quiet: async () => {
      const times = [];
      for (let round = 0; round < QUIET_ROUNDS; round += 1) {
        const { digest } = await readFleet();
        times.push(await timeChange(publish, digest));
        await pause(QUIET_MS);
      }
      const idle = await readCost(async () => {});
      const busy = await readCost(publish);
      const cpu_ms_per_host = (busy - idle) / QUIET_ROUNDS;
      print('quiet', { changes: times.length, ...summariseAll(times), cpu_ms_per_host });
    },
  };
  return { scenarios, publishFirst: () => publish() };
}

function summariseAll(times) {
  return Object.fromEntries(
    Object.keys(times[0]).map((name) => [name, summarise(times.map((time) => time[name]))]),
  );
}
