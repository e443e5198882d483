import { expect } from 'chai';
import { boolean, defaulted, define, object } from 'superstruct';
import { type ParsedDescriptor, parseDescriptor } from '../../core/descriptor/parse-descriptor.js';
import { type BadDocument, type GoodDocument, readCorpus } from '../support/documents/corpus.js';
import { diagnosticsOf, summarize } from '../support/documents/invalid-file.js';
import { createAdapters, knownAdapters } from '../support/documents/known-adapters.js';

const good = readCorpus<GoodDocument[]>('descriptors/good');
const bad = readCorpus<BadDocument[]>('descriptors/bad');

const DIGEST = `sha256:${'a'.repeat(64)}`;

function parse(text: string, file = 'crm.yaml', adapters = knownAdapters) {
  return parseDescriptor({ file, text, adapters });
}

async function parseGood(name: string): Promise<ParsedDescriptor> {
  const vector = good.find((one) => one.name === name);
  if (vector === undefined) expect.fail(`there is no document '${name}'`);
  return parse(vector.text.join('\n'), vector.file);
}

describe('parseDescriptor', () => {
  for (const { name, file, text } of good) {
    it(`accepts ${name}`, async () => {
      const { warnings } = await parse(text.join('\n'), file);
      expect(warnings).to.deep.equal([]);
    });
  }

  for (const { name, file, text, findings } of bad) {
    it(`rejects ${name}`, async () => {
      const found = await diagnosticsOf(() => parse(text.join('\n'), file));
      expect(found.map(summarize)).to.deep.equal(findings);
      for (const finding of found) expect(finding).to.include({ file, severity: 'error' });
    });
  }

  it('fills in every default', async () => {
    const { descriptor } = await parseGood('the least that is needed');
    expect(descriptor).to.deep.equal({
      module: 'crm',
      enabled: true,
      provider: { kind: 'http', config: { endpoints: ['http://127.0.0.1:4100'] } },
      manifest: { kind: 'provider' },
      manifestDigest: null,
      limits: {
        timeoutMs: 5000,
        requestBytes: 1_048_576,
        responseBytes: 4_194_304,
        concurrency: 256,
        queue: 32,
        queueMs: 250,
      },
      rate: { perSecond: 0, burst: 0, actorPerSecond: 0, actorBurst: 0 },
      identity: false,
      callers: ['service', 'system'],
      forwardHeaders: [],
      responses: { mode: 'envelope', exposeHeaders: [] },
      providerErrors: 'problem',
      retry: { attempts: 2, budget: 0.2 },
      breaker: {
        failures: 5,
        ratio: 0.5,
        windowMs: 10_000,
        openMs: 10_000,
        maxOpenMs: 60_000,
      },
      records: { captureBytes: 0 },
      probation: null,
      schemas: { input: 'enforce', output: 'off' },
      console: { release: null, ui: [], grants: [] },
    });
  });

  it('keeps every given value', async () => {
    const { descriptor } = await parseGood('everything');
    expect(descriptor).to.deep.include({
      module: 'acme/crm',
      manifest: { kind: 'file', path: './crm/manifest.json' },
      manifestDigest: DIGEST,
      limits: {
        timeoutMs: 1,
        requestBytes: 1,
        responseBytes: 1_073_741_824,
        concurrency: 1,
        queue: 0,
        queueMs: 0,
      },
      rate: { perSecond: 0.5, burst: 1_000_000, actorPerSecond: 1, actorBurst: 2 },
      identity: true,
      forwardHeaders: ['x-tenant', 'x_tenant'],
      providerErrors: 'passthrough',
      retry: { attempts: 0, budget: 1 },
      breaker: { failures: 1, ratio: 1, windowMs: 30_000, openMs: 60_000, maxOpenMs: 60_000 },
      records: { captureBytes: 65_536 },
      probation: { seconds: 60, maxErrorRate: 0, minCalls: 1 },
      console: { release: DIGEST, ui: [DIGEST], grants: ['crm.config'] },
    });
  });

  it('fills in the defaults of a given probation', async () => {
    const { descriptor } = await parseGood('a probation with its defaults');
    expect(descriptor.probation).to.deep.equal({ seconds: 30, maxErrorRate: 0.05, minCalls: 10 });
  });

  it('distinguishes the four sources of a manifest', async () => {
    const sources = await Promise.all(
      [
        'code in the process',
        'an inline manifest',
        'a manifest behind a URL',
        'a manifest of the provider',
      ].map(async (name) => (await parseGood(name)).descriptor.manifest.kind),
    );
    expect(sources).to.deep.equal(['file', 'inline', 'url', 'provider']);
  });

  it('returns the config with the defaults of its adapter', async () => {
    const config = object({ fast: defaulted(boolean(), true) });
    const adapters = createAdapters([{ kind: 'x', config, supports: { manifest: true } }]);
    const { descriptor } = await parse(
      '{ module: crm, provider: { kind: x } }',
      'a.yaml',
      adapters,
    );
    expect(descriptor.provider.config).to.deep.equal({ fast: true });
  });

  it('warns about a header that is forwarded by default', async () => {
    const text =
      'module: crm\nprovider: { kind: mute }\nmanifest: m.json\nforward_headers: [If-Match]';
    const { warnings } = await parse(text);
    expect(warnings.map(summarize)).to.deep.equal([
      {
        rule: 'needless-header',
        line: 4,
        column: 19,
        message: "'forward_headers[0]': the host forwards this header already",
        hint: 'remove it',
      },
    ]);
    expect(warnings[0]).to.include({ severity: 'warning', file: 'crm.yaml' });
  });

  it('warns about permissions that cannot be in a request path', async () => {
    const grants = ['crm.read', 'crm/read', 'crm\\read', 'a?', 'a#', 'a%2F', '..', '50%', 'a;b'];
    const text = `module: crm\nprovider: { kind: mute }\nmanifest: m.json\nconsole: { grants: ${JSON.stringify(grants)} }`;
    const { warnings } = await parse(text);
    expect(warnings.map(({ rule, path }) => [rule, path.at(-1)])).to.deep.equal(
      [1, 2, 3, 4, 5, 6].map((index) => ['uncallable-permission', index]),
    );
  });

  it('finds the position of a key in the descriptor', async () => {
    const { locate } = await parse('module: crm\nprovider:\n  kind: mute\nmanifest: m.json');
    expect(locate(['provider', 'kind'], 'key')).to.deep.equal({ line: 3, column: 3 });
    expect(locate(['provider', 'kind'], 'value')).to.deep.equal({ line: 3, column: 9 });
    expect(locate(['provider', 'config', 'x'], 'value')).to.deep.equal({ line: 2, column: 1 });
    expect(locate([], 'value')).to.deep.equal({ line: 1, column: 1 });
  });

  it('reports a plugin that cannot be loaded at the place of its kind', async () => {
    const adapters = {
      kinds: () => ['x'],
      adapter: () => Promise.reject(new Error("plugin 'x' cannot be imported")),
    };
    const found = await diagnosticsOf(() =>
      parse('module: crm\nprovider: { kind: x }', 'crm.yaml', adapters),
    );
    expect(found.map(summarize)).to.deep.equal([
      { rule: 'plugin-failed', line: 2, column: 19, message: "plugin 'x' cannot be imported" },
    ]);
  });

  it('reports a failed check of a plugin without its message', async () => {
    const config = define('x', (value) => {
      throw new Error(`what is ${JSON.stringify(value)}?`);
    });
    const adapters = createAdapters([{ kind: 'x', config, supports: { manifest: true } }]);
    const text = 'module: crm\nprovider: { kind: x, config: hunter2 }';
    const found = await diagnosticsOf(() => parse(text, 'crm.yaml', adapters));
    expect(found.map(summarize)).to.deep.equal([
      {
        rule: 'check-failed',
        line: 2,
        column: 30,
        message: "'provider.config' cannot be validated: the check of the plugin failed",
      },
    ]);
  });
});
