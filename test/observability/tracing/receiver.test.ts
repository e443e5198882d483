import { expect } from 'chai';
import { startEchoProvider } from '../../support/echo-provider.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { startOtlpReceiver } from '../../support/observability/otlp-receiver.js';
import {
  callItem,
  readTraceparent,
  spansOf,
  startTracedHost,
  traceparent,
  UNREACHABLE,
  waitForTrace,
} from '../../support/observability/traced-host.js';
import type { Environment, RunningModgate } from '../../support/open-host.js';
import { use } from '../../support/use.js';

const TRACE = '8'.repeat(32);
const CALLS = 60;
const EXPORT_MS = 1000;

describe('trace receiver', () => {
  const receiver = use(startOtlpReceiver);
  const provider = use(startEchoProvider);

  beforeEach(() => {
    provider.reset();
    receiver.mode = 'accepts';
  });

  const run = async (env: Environment, work: (host: RunningModgate) => Promise<void>) => {
    const host = await startTracedHost(provider.url, {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      ...env,
    });
    let isDone = false;
    try {
      await work(host);
      isDone = true;
    } finally {
      const exit = await host.stop();
      if (isDone) expect(exit).to.deep.equal({ code: 0, signal: null });
    }
  };
  const warningsOf = (host: RunningModgate) =>
    host.logs().filter(({ msg }) => String(msg).startsWith('traces lost'));

  it('receives remaining spans at shutdown', async () => {
    await run({ OTEL_BSP_SCHEDULE_DELAY: '60000' }, async (host) => {
      await callItem(host, [traceparent(TRACE)]);
      expect(spansOf(receiver, TRACE)).to.have.length(0);
    });
    await waitForTrace(receiver, TRACE, 2);
  });

  it('receives the headers, service and attributes of the environment', async () => {
    const env = {
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20hunter2, x-scope-orgid = ops',
      OTEL_SERVICE_NAME: 'edge',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging,team=a%2Cb',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    };
    const traceId = '7'.repeat(32);
    await run(env, async (host) => {
      await callItem(host, [traceparent(traceId)]);
      const { server } = await waitForTrace(receiver, traceId, 2);
      expect(server.resource).to.include({
        'service.name': 'edge',
        'deployment.environment.name': 'staging',
        team: 'a,b',
      });
      const { headers } = receiver.exports.at(-1) ?? { headers: {} };
      expect(headers).to.include({
        authorization: 'Bearer hunter2',
        'x-scope-orgid': 'ops',
        'content-encoding': 'gzip',
      });
      expect(host.output()).to.not.include('hunter2');
    });
  });

  it('can be set for traces only, by its full path', async () => {
    const traceId = '6'.repeat(32);
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: UNREACHABLE,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/otlp/t`,
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    };
    await run(env, async (host) => {
      await callItem(host, [traceparent(traceId)]);
      await waitForTrace(receiver, traceId, 2);
      expect(receiver.exports.at(-1)?.line).to.equal('POST /otlp/t application/json');
    });
  });

  it('receives only sampled traces', async () => {
    await run({ OTEL_TRACES_SAMPLER: 'always_off' }, async (host) => {
      await callItem(host, [traceparent('5'.repeat(32))]);
      expect(readTraceparent(provider.only().headers)[2]).to.equal('00');
    });
    expect(spansOf(receiver, '5'.repeat(32))).to.have.length(0);
    provider.reset();
    const env = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' };
    await run(env, async (host) => {
      await callItem(host);
      expect(readTraceparent(provider.only().headers)[2]).to.equal('00');
      await callItem(host, [traceparent('4'.repeat(32))]);
      await waitForTrace(receiver, '4'.repeat(32), 2);
    });
  });

  const FAILURES = [
    { name: 'is down', env: { OTEL_EXPORTER_OTLP_ENDPOINT: UNREACHABLE }, mode: 'accepts' },
    { name: 'fails', env: {}, mode: 'fails' },
    { name: 'hangs', env: {}, mode: 'hangs' },
  ] as const;
  for (const { name, env, mode } of FAILURES) {
    it(`does not affect requests when it ${name}, and delays shutdown by a second at most`, async () => {
      receiver.mode = mode;
      const timeout = String(EXPORT_MS);
      const short = { OTEL_EXPORTER_OTLP_TIMEOUT: timeout, OTEL_BSP_EXPORT_TIMEOUT: timeout };
      await run({ ...short, ...env }, async (host) => {
        const reached = () => mode === 'accepts' || receiver.exports.length > before;
        const before = receiver.exports.length;
        const startedAt = performance.now();
        for (let count = 0; count < CALLS; count += 1) {
          expect((await callItem(host)).status).to.equal(200);
        }
        // Half of what they would last if each waited for its export.
        expect(performance.now() - startedAt).to.be.below((CALLS * EXPORT_MS) / 2);
        await waitUntil('the export', reached);
        await waitUntil('the warning', () => warningsOf(host).length > 0);
        expect(warningsOf(host)).to.have.length(1);
        expect(host.output()).to.not.include('/v1/traces');
        for (let count = 0; count < CALLS; count += 1) await callItem(host);
      });
    });
  }

  it('drops spans beyond its queue while it hangs', async () => {
    receiver.mode = 'hangs';
    const env = { OTEL_BSP_MAX_QUEUE_SIZE: '20', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10' };
    await run({ ...env, OTEL_EXPORTER_OTLP_TIMEOUT: '60000' }, async (host) => {
      const before = receiver.spans.length;
      for (let count = 0; count < CALLS; count += 1) await callItem(host);
      receiver.mode = 'accepts';
      const last = '3'.repeat(32);
      await waitUntil('exports to go on', async () => {
        await callItem(host, [traceparent(last)]);
        return spansOf(receiver, last).length > 0;
      });
      // Each call has two spans. With an unlimited queue, all of them would arrive before the last.
      const others = receiver.spans.slice(before).filter(({ traceId }) => traceId !== last);
      expect(others.length).to.be.below(2 * CALLS);
    });
  });
});
