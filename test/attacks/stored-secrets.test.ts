import { expect } from 'chai';
import type { ConfigField } from '../../core/contract/index.js';
import type { DescriptorMembers } from '../support/bridge/bridge.js';
import {
  configDescriptor,
  configManifest,
  DELIVERY_PATH,
  readDeliveries,
  readValues,
  writeValue,
} from '../support/bridge/config.js';
import { type EchoProvider, startEchoProvider } from '../support/echo-provider.js';
import { expectProblem, reasonOf } from '../support/http/expect-problem.js';
import { waitUntil } from '../support/http/wait-until.js';
import {
  CODE_PUBLISHER,
  PUBLISHER,
  readReleases,
  sendJson,
  sendRelease,
} from '../support/releases.js';
import { type RunningHost, startHost } from '../support/start-host.js';

const TOKEN = { service: 'conf', key: 'token', type: { kind: 'string' }, editable: true } as const;
const FIELDS: readonly ConfigField[] = [
  { ...TOKEN, sensitive: true },
  { service: 'conf', key: 'made', type: { kind: 'string' }, generated: { bytes: 16 } },
  { ...TOKEN, key: 'plain' },
];
/** The same fields, of an author who wants to read them. */
const OPEN_FIELDS: readonly ConfigField[] = [
  TOKEN,
  { ...TOKEN, key: 'made' },
  { ...TOKEN, key: 'plain' },
];
const SECRET = 'a-stored-secret';

type Files = Readonly<Record<string, string | object>>;

/** With the right for code each move succeeds: so it does on a host that does not require the right. */
describe('attacks of a publisher on stored secrets', () => {
  let provider: EchoProvider;
  let thief: EchoProvider;
  let host: RunningHost;

  beforeEach(async () => {
    provider = await startEchoProvider();
    thief = await startEchoProvider();
    host = await startHost({ args: ['--modules', 'store:'] });
  });
  afterEach(async () => {
    await host.stop();
    await provider.close();
    await thief.close();
  });

  const publish = async (files: Files, as = PUBLISHER, members: object = {}) => {
    const { active: base } = await readReleases(host);
    return sendRelease(host, files, { base, ...members }, as);
  };
  const describe = (url: string, members: DescriptorMembers = {}): Files => ({
    'conf.json': configDescriptor(url, FIELDS, members),
  });
  const describeFile = (url: string): Files => ({
    'conf.json': configDescriptor('', FIELDS, {
      provider: { kind: 'http', config: { endpoints: { file: './conf/endpoints.json' } } },
    }),
    'conf/endpoints.json': [url],
  });
  const hasSecret = (one: EchoProvider) =>
    readDeliveries(one).some(({ values }) => values['conf/token'] === SECRET);
  const deliver = async (files: Files) => {
    expect((await publish(files)).status).to.equal(200);
    await waitUntil('the module', () => readDeliveries(provider).length > 0);
    await writeValue(host, 'token', SECRET);
    await waitUntil('the secret', () => hasSecret(provider));
  };
  const expectDenied = async (files: Files, members: object = {}) => {
    const problem = expectProblem(await publish(files, PUBLISHER, members), 403);
    expect(reasonOf(problem, 'scope')).to.equal('modgate.releases.code');
    expect(reasonOf(problem, 'conf.json')).to.include('stored secrets');
  };

  it('hold against other endpoints, at once or later', async () => {
    const good = describe(provider.url);
    const moved = describe(thief.url);
    await deliver(good);
    await expectDenied(moved);
    await expectDenied(moved, { canary: { share: 0.5 } });
    await expectDenied(describe(thief.url, { enabled: false }));
    expect((await publish({})).status).to.equal(200);
    await expectDenied(moved);
    expect((await publish(good)).status).to.equal(200);
    expect((await publish(describe(provider.url, { enabled: false }))).status).to.equal(200);
    await expectDenied(moved);
    expect((await publish(good)).status).to.equal(200);
    expect(hasSecret(thief)).to.equal(false);
    // The attack is a real one.
    expect((await publish(moved, CODE_PUBLISHER)).status).to.equal(200);
    await waitUntil('the theft', () => hasSecret(thief));
    // Only the last place counts, and an earlier release is no way back.
    await expectDenied(good);
    const { active: bad } = await readReleases(host);
    expect((await publish(good, CODE_PUBLISHER)).status).to.equal(200);
    for (const release of [bad, null]) {
      const back = await sendJson(host, '/rollback', { release }, PUBLISHER);
      expect(reasonOf(expectProblem(back, 403), 'scope')).to.equal('modgate.releases.code');
    }
  });

  it('hold against another content of a file of endpoints', async () => {
    await deliver(describeFile(provider.url));
    await expectDenied(describeFile(thief.url));
    expect((await publish(describeFile(thief.url), CODE_PUBLISHER)).status).to.equal(200);
    expect((await publish({})).status).to.equal(200);
    await expectDenied({
      ...describeFile(thief.url),
      'conf/endpoints.json': ['http://127.0.0.1:1'],
    });
  });

  it('hold against another path, kind, candidate or name server', async () => {
    const { endpoint: _none, ...config } = { endpoint: '', endpoints: [provider.url] };
    await deliver(describe(provider.url));
    const manifest = configManifest(FIELDS);
    const moved = { ...manifest, config: { ...manifest.config, delivery_path: '/public' } };
    await expectDenied(describe(provider.url, { manifest: { inline: moved } }));
    const nats = { kind: 'nats', config: { servers: ['nats://127.0.0.1:1'], subject: 'a' } };
    await expectDenied(describe('', { provider: nats }));
    await expectDenied(describe(provider.url, { candidate: { endpoints: [thief.url] } }));
    const named = { ...config, resolver: { servers: ['127.0.0.1'] } };
    await expectDenied(describe('', { provider: { kind: 'http', config: named } }));
  });

  it('hold for a value that was generated and never written', async () => {
    expect((await publish(describe(provider.url))).status).to.equal(200);
    await waitUntil('the value', () =>
      readDeliveries(provider).some(({ values }) => values['conf/made'] !== undefined),
    );
    await expectDenied(describe(thief.url));
  });

  it('let a publisher change what moves nothing', async () => {
    await deliver(describe(provider.url));
    const capabilities = ['conf.config', 'conf.use'];
    const http_routes = [{ method: 'GET', path: '/items', capability: 'conf.use' } as const];
    const inline = configManifest(FIELDS, { capabilities, http_routes });
    expect((await publish(describe(provider.url, { manifest: { inline } }))).status).to.equal(200);
    const members = { limits: { timeout_ms: 700 }, manifest: { inline } };
    expect((await publish(describe(provider.url, members))).status).to.equal(200);
  });

  it('show nothing that was stored as sensitive to a manifest that does not say so', async () => {
    await deliver(describe(provider.url));
    const inline = configManifest(OPEN_FIELDS);
    expect((await publish(describe(provider.url, { manifest: { inline } }))).status).to.equal(200);
    await waitUntil(
      'the manifest',
      async () => (await readValues(host))['made']?.editable === true,
    );
    const { token, made } = await readValues(host);
    expect(token).to.include({ desired_value: null, redacted: true });
    expect(made).to.include({ desired_value: null, redacted: true });
  });
});

describe('stored secrets under a manifest that declares them as plain', () => {
  let provider: EchoProvider;
  let host: RunningHost | undefined;

  beforeEach(async () => {
    provider = await startEchoProvider();
  });
  afterEach(async () => {
    await host?.stop();
    await provider.close();
  });

  const expectRedacted = async (running: RunningHost) => {
    await writeValue(running, 'token', SECRET);
    await writeValue(running, 'plain', 'shown');
    return async () => {
      await waitUntil('the manifest', async () => {
        return (await readValues(running))['made']?.editable === true;
      });
      const { token, made, plain } = await readValues(running);
      expect(token).to.include({ desired_value: null, redacted: true });
      expect(made).to.include({ desired_value: null, redacted: true });
      expect(plain).to.include({ desired_value: 'shown', redacted: false });
      await writeValue(running, 'token', 'not secret');
      await writeValue(running, 'made', 'by hand');
      const after = await readValues(running);
      expect(after['token']).to.include({ desired_value: 'not secret', redacted: false });
      expect(after['made']).to.include({ desired_value: null, redacted: true });
    };
  };
  const untilGenerated = () =>
    waitUntil('the generated value', () =>
      readDeliveries(provider).some(({ values }) => values['conf/made'] !== undefined),
    );

  it('stay redacted until they are written again, from a folder of modules', async () => {
    host = await startHost({ files: { 'conf.json': configDescriptor(provider.url, FIELDS) } });
    await untilGenerated();
    const check = await expectRedacted(host);
    host.drop('conf.json', configDescriptor(provider.url, OPEN_FIELDS));
    await check();
  });

  it('stay redacted until they are written again, with the manifest of a provider', async () => {
    const answerWith = (fields: readonly ConfigField[]) =>
      provider.answer({ body: JSON.stringify(configManifest(fields)) });
    answerWith(FIELDS);
    const describe = (timeout_ms: number) =>
      configDescriptor(provider.url, [], {
        manifest: { from: 'provider' },
        limits: { timeout_ms },
      });
    host = await startHost({ files: { 'conf.json': describe(900) } });
    await untilGenerated();
    const check = await expectRedacted(host);
    answerWith(OPEN_FIELDS);
    host.drop('conf.json', describe(901));
    await check();
  });

  it('are delivered as before', async () => {
    host = await startHost({ files: { 'conf.json': configDescriptor(provider.url, FIELDS) } });
    await untilGenerated();
    await writeValue(host, 'token', SECRET);
    await waitUntil('the secret', () =>
      readDeliveries(provider).some(({ values }) => values['conf/token'] === SECRET),
    );
    expect(provider.requests.every(({ target }) => target === DELIVERY_PATH)).to.equal(true);
  });
});
