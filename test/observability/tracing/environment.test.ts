import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ConfigError } from '../../../core/errors.js';
import { openTracing } from '../../../core/observability/tracing/open-tracing.js';
import { headerValue } from '../../../core/selftest/raw-http.js';
import { silent } from '../../store/backend.js';
import { runModgate } from '../../support/cli/run-modgate.js';
import { type EchoProvider, startEchoProvider } from '../../support/echo-provider.js';
import {
  callItem,
  NOBODY,
  readTraceparent,
  startTracedHost,
} from '../../support/observability/traced-host.js';

const WRONG: readonly (readonly [string, string])[] = [
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'hunter2'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'hunter2:4318'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'ftp://hunter2'],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'http://'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
  ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'hunter2'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'hunter2'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=hunter2,'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=hunter2%'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=hunter2%0d%0ab'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a b=hunter2'],
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
];

describe('the environment of traces', () => {
  let directory: string;
  let provider: EchoProvider;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'modgate-otel-'));
    provider = await startEchoProvider();
  });

  after(async () => {
    await provider.close();
    rmSync(directory, { recursive: true, force: true });
  });

  for (const [name, value] of WRONG) {
    it(`refuses ${name}=${value}, and does not repeat the value`, async () => {
      const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: NOBODY, [name]: value };
      const failure = await openTracing(environment, '0', silent).then(
        () => null,
        (error: unknown) => error,
      );
      expect(failure).to.be.instanceOf(ConfigError);
      const { message } = failure as ConfigError;
      expect(message).to.match(new RegExp(`^${name} must be `));
      expect(message).to.not.include('hunter2');
    });
  }

  it('ends the start with 2 where it is wrong', async () => {
    const { code, stdout, stderr } = await runModgate(
      [
        ...['serve', '--env', 'development', '--port', '0', '--modules', directory],
        ...['--state', join(directory, 'state')],
      ],
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'hunter2' },
    );
    expect({ code }).to.deep.equal({ code: 2 });
    expect(stderr).to.include('OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL');
    expect(stdout + stderr).to.not.include('hunter2');
  });

  /** The modules that a host has loaded by the time that it ends. */
  const listLoaded = async (env: Readonly<Record<string, string>>) => {
    const folder = mkdtempSync(join(directory, 'loaded-'));
    const host = await startTracedHost(provider.url, { ...env, NODE_V8_COVERAGE: folder });
    await callItem(host);
    expect((await host.stop()).code).to.equal(0);
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    return files.flatMap((text) =>
      (JSON.parse(text) as { result: { url: string }[] }).result.map(({ url }) => url),
    );
  };
  // Of the API prom-client is a user too.
  const isTelemetry = (url: string) =>
    /@opentelemetry\/(?!api\/)|\/otlp-(?:tracing|request-span|attributes)/.test(url);

  it('loads nothing of the SDK without an endpoint, and samples nothing', async () => {
    provider.reset();
    const loaded = await listLoaded({ OTEL_TRACES_SAMPLER: 'always_on' });
    expect(loaded.some((url) => url.endsWith('/core/compose.js'))).to.equal(true);
    expect(loaded.filter(isTelemetry)).to.deep.equal([]);
    expect(readTraceparent(provider.only().headers)[2]).to.equal('00');
  });

  it('loads it with one, and the exporter that is asked for alone', async () => {
    const loaded = await listLoaded({
      OTEL_EXPORTER_OTLP_ENDPOINT: NOBODY,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    });
    expect(loaded.some((url) => url.includes('/@opentelemetry/sdk-trace-base/'))).to.equal(true);
    expect(loaded.some((url) => url.includes('/exporter-trace-otlp-proto/'))).to.equal(false);
  });

  for (const off of [{ OTEL_SDK_DISABLED: 'TRUE' }, { OTEL_TRACES_EXPORTER: 'none' }]) {
    it(`is off with ${Object.entries(off).flat().join('=')}`, async () => {
      provider.reset();
      const host = await startTracedHost(provider.url, {
        OTEL_EXPORTER_OTLP_ENDPOINT: NOBODY,
        ...off,
      });
      await callItem(host);
      await host.stop();
      expect(headerValue(provider.only().headers, 'traceparent')).to.match(/-00$/);
    });
  }
});
