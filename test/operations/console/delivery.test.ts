import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import type { ConfigField } from '../../../core/contract/index.js';
import { headerValue } from '../../../core/selftest/raw-http.js';
import { createDescriptor, createManifest } from '../../support/bridge/bridge.js';
import {
  CONFIG,
  configDescriptor,
  configManifest,
  DELIVERY_PATH,
  readDeliveries,
  readValues,
  writeValue,
} from '../../support/bridge/config.js';
import { type EchoProvider, startEchoProvider } from '../../support/echo-provider.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { adapterSource, writePlugin } from '../../support/isolation/write-plugin.js';
import { type HostOptions, type RunningHost, startHost } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';
import { useEach } from '../../support/use.js';

const FIELDS: readonly ConfigField[] = [
  { service: 'conf', key: 'size', type: { kind: 'int' }, default: 50, editable: true },
  { service: 'conf', key: 'unset', type: { kind: 'string' }, editable: true },
  { service: 'conf', key: 'token', type: { kind: 'string' }, editable: true, sensitive: true },
  {
    service: 'conf',
    key: 'threads',
    type: { kind: 'int' },
    default: 4,
    editable: true,
    restart_only: true,
  },
];
const DEFAULTS = { 'conf/size': 50, 'conf/threads': 4 };
const SECRET = 'a secret that no log holds';

describe('config delivery', () => {
  const running: { stop(): Promise<unknown> }[] = [];

  const start = async (
    files: HostOptions['files'],
    options: Omit<HostOptions, 'files'> = {},
  ): Promise<RunningHost> => {
    const host = await startHost({ ...options, files: files ?? {} });
    running.push(host);
    return host;
  };
  const startConfigured = (members: object = {}) =>
    start({ 'conf.json': configDescriptor(provider.url, FIELDS, { ...members }) });
  const waitFor = (revision: number, of: EchoProvider = provider) =>
    waitUntil(`revision ${revision} to come`, () => {
      return readDeliveries(of).at(-1)?.revision === revision;
    });

  const readModule = async ({ url }: RunningHost) => {
    const headers = { authorization: 'Bearer dev-service:ops:modgate.modules.read' };
    const response = await fetch(`${url}/modules`, { headers });
    const { modules } = (await response.json()) as { modules: Record<string, unknown>[] };
    return modules[0] ?? {};
  };
  const waitForEndpoints = (host: RunningHost, count: number) =>
    waitUntil(`${count} endpoints`, async () => {
      return ((await readModule(host))['endpoints'] as unknown[]).length === count;
    });

  const provider = useEach(startEchoProvider);
  afterEach(async () => {
    await Promise.all(running.splice(0).map((host) => host.stop()));
  });

  it('sends the effective values to delivery_path when the module opens', async () => {
    await startConfigured();
    await waitFor(0);
    const { method, target, headers, body } = provider.only();
    expect([method, target]).to.deep.equal(['PUT', DELIVERY_PATH]);
    expect(JSON.parse(body.toString())).to.deep.equal({ revision: 0, values: DEFAULTS });
    expect(headerValue(headers, 'content-type')).to.equal('application/json');
    expect(headerValue(headers, 'accept')).to.equal('application/json');
    expect(headerValue(headers, 'accept-encoding')).to.equal('identity');
    expect(headerValue(headers, 'x-request-id')).to.match(/^req_/);
    expect(headerValue(headers, 'x-correlation-id')).to.be.a('string');
    expect(headerValue(headers, 'modgate-actor')).to.equal(undefined);
  });

  it('follows each change with a greater revision', async () => {
    const host = await startConfigured();
    await waitFor(0);
    await writeValue(host, 'size', 60);
    await waitFor(1);
    await writeValue(host, 'token', SECRET);
    await waitFor(2);
    expect(readDeliveries(provider).map(({ revision }) => revision)).to.deep.equal([0, 1, 2]);
    const values = { ...DEFAULTS, 'conf/size': 60, 'conf/token': SECRET };
    expect(readDeliveries(provider).at(-1)?.values).to.deep.equal(values);
  });

  it('sends restart-only fields as they were when the module opened', async () => {
    const host = await startConfigured();
    await waitFor(0);
    await writeValue(host, 'threads', 8);
    await waitFor(1);
    expect(readDeliveries(provider).at(-1)?.values).to.deep.equal(DEFAULTS);
    host.drop(
      'conf.json',
      configDescriptor(provider.url, FIELDS, { limits: { timeout_ms: 4000 } }),
    );
    const opened = { ...DEFAULTS, 'conf/threads': 8 };
    await waitUntil('the delivery to the new version', () => {
      return readDeliveries(provider).at(-1)?.values['conf/threads'] === 8;
    });
    expect(readDeliveries(provider).at(-1)).to.deep.equal({ revision: 1, values: opened });
  });

  it('is retried until it is accepted, with the latest values', async () => {
    provider.answer({ status: 500 });
    const host = await startConfigured();
    await waitUntil('two attempts', () => readDeliveries(provider).length >= 2);
    await writeValue(host, 'size', 60);
    await writeValue(host, 'size', 61);
    provider.reset();
    await waitFor(2);
    const values = { ...DEFAULTS, 'conf/size': 61 };
    expect(readDeliveries(provider).at(-1)).to.deep.equal({ revision: 2, values });
  });

  it('sends a new value without waiting for the backoff', async () => {
    provider.answer({ status: 500 });
    const host = await startConfigured();
    // After the sixth attempt the backoff is at least 3.2 s, and it grows.
    await waitUntil('six attempts', () => readDeliveries(provider).length === 6);
    const writtenAt = performance.now();
    for (let revision = 1; revision <= 6; revision += 1) {
      await writeValue(host, 'size', 60 + revision);
      await waitFor(revision);
    }
    expect(performance.now() - writtenAt).to.be.below(15_000);
  });

  it('reaches every endpoint, even if another one fails', async () => {
    const second = await startEchoProvider();
    running.push({ stop: () => second.close() });
    const endpoints = ['http://127.0.0.1:1', provider.url, second.url];
    const host = await startConfigured({ provider: { kind: 'http', config: { endpoints } } });
    await waitFor(0);
    await waitFor(0, second);
    await writeValue(host, 'size', 60);
    await waitFor(1);
    await waitFor(1, second);
  });

  it('reaches endpoints that are added later, and sends nothing again to the others', async () => {
    const second = await startEchoProvider();
    running.push({ stop: () => second.close() });
    const file = 'conf/endpoints.json';
    const config = { endpoints: { file: `./${file}` } };
    const host = await start({
      'conf.json': configDescriptor(provider.url, FIELDS, { provider: { kind: 'http', config } }),
      [file]: [provider.url],
    });
    await waitFor(0);
    host.drop(file, [provider.url, second.url]);
    await waitFor(0, second);
    await writeValue(host, 'size', 60);
    await waitFor(1);
    await waitFor(1, second);
    host.drop(file, [second.url]);
    await waitForEndpoints(host, 1);
    await writeValue(host, 'size', 61);
    await waitFor(2, second);
    expect(readDeliveries(provider).map(({ revision }) => revision)).to.deep.equal([0, 1]);
  });

  it('is retried while the transport of the provider denies the host', async () => {
    const entry = adapterSource('denied', {
      before: 'let attempts = 0;',
      invoke: `
        attempts += 1;
        const phase = attempts === 1 ? 'connecting' : 'sending';
        if (attempts < 3) throw new ProviderFailure('refused', 'denied', { phase });
        context.log.info({ attempts }, 'configured');`,
    }).replace('{ manifest: true }', '{ configure: true }');
    const folder = createFolder();
    writePlugin(folder, { name: 'denied', entry });
    const provider = { kind: 'denied', config: {} };
    const manifest = { inline: configManifest(FIELDS, { config: { fields: FIELDS } }) };
    const files = { 'conf.json': { module: 'conf', provider, manifest } };
    const host = await start(files, { args: ['--plugins', folder] });
    await waitUntil('the third attempt', () =>
      host.logs().some(({ msg, attempts }) => msg === 'configured' && attempts === 3),
    );
  });

  it('does not count as a call and opens no circuit breaker', async () => {
    provider.answer({ status: 500 });
    const host = await startConfigured({ breaker: { failures: 1 } });
    await waitUntil('three attempts', () => readDeliveries(provider).length >= 3);
    const module = await readModule(host);
    expect(module['counts']).to.deep.equal({ calls: 0, failed: 0, in_flight: 0, queued: 0 });
    const [endpoint] = (module['endpoints'] ?? []) as Record<string, unknown>[];
    expect(endpoint).to.include({ state: 'up', calls: 0, failures: 0 });
  });

  it('logs each failure reason once, without values', async () => {
    provider.answer({ status: 500, body: JSON.stringify({ error: SECRET }) });
    const host = await startConfigured();
    await writeValue(host, 'token', SECRET);
    await waitUntil('four attempts', () => readDeliveries(provider).length >= 4);
    provider.answer({ status: 503 });
    const count = readDeliveries(provider).length;
    await waitUntil('two more', () => readDeliveries(provider).length >= count + 2);
    const findLines = () => host.logs().filter(({ msg }) => /deliver/.test(String(msg)));
    await waitUntil('a line for each reason', () => findLines().length >= 2);
    const lines = findLines();
    expect(lines.map(({ reason }) => String(reason).match(/\d+/)?.[0])).to.deep.equal([
      '500',
      '503',
    ]);
    expect(lines.every(({ module }) => module === 'conf')).to.equal(true);
    expect(host.output()).to.not.include(SECRET);
  });

  it('ignores modules without delivery_path', async () => {
    const inline = configManifest(FIELDS, { config: { write_capability: CONFIG, fields: FIELDS } });
    const host = await startConfigured({ manifest: { inline } });
    await writeValue(host, 'size', 60);
    expect((await readValues(host))['size']?.desired_value).to.equal(60);
    expect(provider.requests).to.deep.equal([]);
    expect(host.logs().filter(({ level }) => level === 'warn' || level === 'error')).to.deep.equal(
      [],
    );
  });

  it('opens no store for modules without config fields', async () => {
    const state = createFolder();
    const manifest = createManifest('bare', { capabilities: [CONFIG] });
    const files = { 'bare.json': createDescriptor('bare', manifest, [CONFIG]) };
    const host = await start(files, { args: ['--state', state] });
    // A store would be on disk by the end.
    await host.stop();
    expect(readdirSync(state).filter((name) => name.startsWith('modgate.db'))).to.deep.equal([]);
  });

  it('generates a secret once and delivers it', async () => {
    const state = createFolder();
    const made: ConfigField = {
      service: 'conf',
      key: 'made',
      type: { kind: 'string' },
      generated: { bytes: 24 },
    };
    const options = { args: ['--state', state] };
    const files = { 'conf.json': configDescriptor(provider.url, [...FIELDS, made]) };
    try {
      const first = await start(files, options);
      await waitFor(0);
      await first.stop();
      await start(files, options);
      await waitUntil('two deliveries', () => readDeliveries(provider).length === 2);
      const [one, second] = readDeliveries(provider);
      expect(one?.values['conf/made']).to.match(/^[0-9a-f]{48}$/);
      expect(second).to.deep.equal(one);
    } finally {
      await Promise.all(running.splice(0).map((host) => host.stop()));
    }
  });

  it('calls configure of a module of kind local until it does not throw', async () => {
    const file = `
      let seen = [];
      export const configure = async (configuration) => {
        seen.push(configuration);
        if (seen.length === 1) throw new Error(${JSON.stringify(SECRET)});
      };
      export default async () => ({ status: 200, body: seen });
    `;
    const manifest = configManifest(FIELDS, {
      http_routes: [{ method: 'GET', path: '/seen', capability: CONFIG }],
    });
    const local = { provider: { kind: 'local', config: { file: './conf/conf.mjs' } } };
    const host = await start({
      'conf/conf.mjs': file,
      'conf.json': createDescriptor('conf', manifest, [CONFIG], local),
    });
    const readSeen = async () => {
      const headers = { authorization: `Bearer dev-service:ops:${CONFIG}` };
      const answer = await fetch(`${host.url}/modules/conf/http/seen`, { headers });
      return ((await answer.json()) as { data: object[] }).data;
    };
    await waitUntil('the second attempt', async () => (await readSeen()).length === 2);
    await writeValue(host, 'size', 60);
    await waitUntil('the change', async () => (await readSeen()).length === 3);
    expect(await readSeen()).to.deep.equal([
      { revision: 0, values: DEFAULTS },
      { revision: 0, values: DEFAULTS },
      { revision: 1, values: { ...DEFAULTS, 'conf/size': 60 } },
    ]);
    expect(host.output()).to.not.include(SECRET);
  });
});
