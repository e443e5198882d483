import { expect } from 'chai';
import { openTracing } from '../../../core/observability/tracing/open-tracing.js';
import { createRequestFacts } from '../../../core/operations/request.js';
import { headerValue } from '../../../core/selftest/raw-http.js';
import { silent } from '../../store/backend.js';
import { startEchoProvider } from '../../support/echo-provider.js';
import { listLoadedFiles } from '../../support/loaded-files.js';
import { startOtlpReceiver } from '../../support/observability/otlp-receiver.js';
import {
  callItem,
  readTraceparent,
  startTracedHost,
  startTracedProcess,
  UNREACHABLE,
} from '../../support/observability/traced-host.js';
import { createFolder } from '../../support/temporary-folder.js';
import { use } from '../../support/use.js';

/** Each value leaves no usable receiver: the SDK uses its default, or every export fails. */
const LOSES_TRACES: readonly (readonly [string, string])[] = [
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'hunter2'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'hunter2:4318'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'ftp://hunter2'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=hunter2%0d%0ab'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a b=hunter2'],
];

const IGNORED: readonly (readonly [string, string])[] = [
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'http://'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
  ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'hunter2'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'hunter2'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=hunter2,'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=hunter2%'],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', '0'],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s'],
  ['OTEL_EXPORTER_OTLP_COMPRESSION', 'hunter2'],
  ['OTEL_TRACES_EXPORTER', 'zipkin'],
  ['OTEL_TRACES_SAMPLER', 'hunter2'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.1'],
  ['OTEL_TRACES_SAMPLER_ARG', 'hunter2'],
  ['OTEL_RESOURCE_ATTRIBUTES', 'hunter2'],
  ['OTEL_BSP_SCHEDULE_DELAY', '-1'],
  ['OTEL_BSP_MAX_QUEUE_SIZE', 'hunter2'],
  ['OTEL_BSP_MAX_QUEUE_SIZE', '0'],
  ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '0'],
  ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '-1'],
];

const INVALID = 'invalid OTEL_* variable: its default applies';
const LOST = 'traces lost: OTLP receiver unavailable';

describe('OTEL_* variables', () => {
  const directory = createFolder();
  const provider = use(startEchoProvider);
  const receiver = use(startOtlpReceiver);

  /** Traces one request in this process, whose environment the SDK reads; returns the log's messages. */
  const traceOnce = async (environment: Readonly<Record<string, string>>) => {
    const messages: string[] = [];
    const log = { ...silent, warn: (_: object, message = '') => messages.push(message) };
    Object.assign(process.env, environment);
    try {
      const tracing = await openTracing(process.env, '0', log);
      tracing
        ?.begin({
          method: 'GET',
          scheme: 'http',
          hostRoute: null,
          headers: new Map<string, string>(),
          requestId: 'r',
          facts: createRequestFacts(),
        })
        .end(200, null);
      await tracing?.close();
    } finally {
      for (const name of Object.keys(environment)) delete process.env[name];
    }
    return messages;
  };

  for (const [name, value] of IGNORED) {
    it(`delivers traces despite ${name}=${value}`, async () => {
      const before = receiver.spans.length;
      const messages = await traceOnce({
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        [name]: value,
      });
      expect(receiver.spans.length - before).to.equal(1);
      expect(messages.filter((message) => message !== INVALID)).to.deep.equal([]);
    });
  }

  for (const [name, value] of LOSES_TRACES) {
    it(`survives ${name}=${value}, and does not log the value`, async () => {
      const before = receiver.spans.length;
      const messages = await traceOnce({
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        [name]: value,
      });
      expect(receiver.spans.length - before).to.equal(0);
      expect(messages.filter((message) => message !== INVALID && message !== LOST)).to.deep.equal(
        [],
      );
    });
  }

  it('logs that a variable is invalid', async () => {
    const environment = {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    };
    expect(await traceOnce(environment)).to.deep.equal([INVALID]);
  });

  it('serves requests when every variable is invalid', async () => {
    const host = await startTracedHost(
      provider.url,
      Object.fromEntries([...IGNORED, ...LOSES_TRACES]),
    );
    expect((await callItem(host)).status).to.equal(200);
    expect((await host.stop()).code).to.equal(0);
    expect(host.logs().filter(({ msg }) => msg === INVALID)).to.have.length(1);
    expect(host.output()).to.not.include('hunter2');
  });

  const listLoaded = (env: Readonly<Record<string, string>>) =>
    listLoadedFiles(directory, env, async (variables) => {
      const host = await startTracedProcess(provider.url, variables);
      await callItem(host);
      expect((await host.stop()).code).to.equal(0);
    });
  // prom-client loads the API too.
  const isTelemetry = (url: string) =>
    /@opentelemetry\/(?!api\/)|\/otlp-(?:tracing|request-span|attributes)/.test(url);

  it('does not load the SDK without an endpoint', async () => {
    provider.reset();
    const loaded = await listLoaded({ OTEL_TRACES_SAMPLER: 'always_on' });
    expect(loaded.some((url) => url.endsWith('/core/compose.js'))).to.equal(true);
    expect(loaded.filter(isTelemetry)).to.deep.equal([]);
    expect(readTraceparent(provider.only().headers)[2]).to.equal('00');
  });

  it('loads the SDK and only the configured exporter with an endpoint', async () => {
    const loaded = await listLoaded({
      OTEL_EXPORTER_OTLP_ENDPOINT: UNREACHABLE,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    });
    expect(loaded.some((url) => url.includes('/@opentelemetry/sdk-trace-base/'))).to.equal(true);
    expect(loaded.some((url) => url.includes('/exporter-trace-otlp-proto/'))).to.equal(false);
  });

  for (const off of [{ OTEL_SDK_DISABLED: 'TRUE' }, { OTEL_TRACES_EXPORTER: 'none' }]) {
    it(`is off with ${Object.entries(off).flat().join('=')}`, async () => {
      provider.reset();
      const host = await startTracedHost(provider.url, {
        OTEL_EXPORTER_OTLP_ENDPOINT: UNREACHABLE,
        ...off,
      });
      await callItem(host);
      await host.stop();
      expect(headerValue(provider.only().headers, 'traceparent')).to.match(/-00$/);
    });
  }
});
