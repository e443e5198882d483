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
  const vector = good.find((entry) => entry.name === name);
  if (vector === undefined) expect.fail(`there is no document '${name}'`);
  return parse(vector.text.join('\n'), vector.file);
}

/** Their defaults. */
const STREAM_LIMITS = {
  bytes: { request: 1_073_741_824, response: 1_073_741_824 },
  body_idle_ms: 30_000,
  body_min_bytes_s: 1024,
  stream: {
    idle_ms: 60_000,
    max_ms: 3_600_000,
    per_actor: 10,
    total: 1024,
    units_s: 100_000,
    heartbeat_ms: 15_000,
  },
};

describe('parseDescriptor', () => {
  for (const { name, file, text } of good) {
    it(`accepts ${name}`, async () => {
      const { warnings } = await parse(text.join('\n'), file);
      expect(warnings).to.deep.equal([]);
    });
  }

  for (const { name, file, text, findings } of bad) {
    it(`rejects ${name}`, async () => {
      const diagnostics = await diagnosticsOf(() => parse(text.join('\n'), file));
      expect(diagnostics.map(summarize)).to.deep.equal(findings);
      for (const finding of diagnostics) expect(finding).to.include({ file, severity: 'error' });
    });
  }

  it('fills in every default', async () => {
    const { descriptor } = await parseGood('the least that is needed');
    expect(descriptor).to.deep.equal({
      module: 'crm',
      enabled: true,
      provider: { kind: 'http', config: { endpoints: ['http://127.0.0.1:4100'] } },
      configDescription: {
        hostUses: [],
        credentialHeaders: [],
        origins: ['http://127.0.0.1:4100'],
        basePath: '',
      },
      furtherProviders: [],
      manifest: { kind: 'provider' },
      limits: {
        timeout_ms: 5000,
        request_bytes: 1_048_576,
        response_bytes: 4_194_304,
        hold_bytes: 4_194_304,
        hold_request_bytes: 1_048_576,
        concurrency: 256,
        queue: 32,
        queue_ms: 250,
        ...STREAM_LIMITS,
      },
      public: false,
      mount: [],
      rate: {
        per_second: 0,
        burst: 0,
        actor_per_second: 0,
        actor_burst: 0,
        client_per_second: 0,
        client_burst: 0,
        shared: false,
        on_loss: 'share',
        headers: false,
      },
      identity: false,
      callers: ['service', 'system'],
      forward_headers: [],
      forward_client: false,
      responses: {
        mode: 'envelope',
        expose_headers: [],
        origins: [],
        redirects: [],
        problems: 'problem',
      },
      provider_errors: 'problem',
      cache: 'on',
      retry: { attempts: 2, budget: 0.2 },
      breaker: {
        failures: 5,
        ratio: 0.5,
        window_ms: 10_000,
        open_ms: 10_000,
        max_open_ms: 60_000,
      },
      records: { capture_bytes: 0, digests: false },
      schemas: { input: 'enforce', output: 'off' },
      console: { ui: [], grants: [] },
      mcp: { expose: 'none', approve: 'danger', result_bytes: 102_400, media_bytes: 4_194_304 },
    });
  });

  it('keeps every given value', async () => {
    const { descriptor } = await parseGood('everything');
    expect(descriptor).to.deep.include({
      module: 'acme/crm',
      manifest: { kind: 'file', path: './crm/manifest.json' },
      manifest_digest: DIGEST,
      limits: {
        timeout_ms: 1,
        request_bytes: 1,
        response_bytes: 1_073_741_824,
        hold_bytes: 262_144,
        hold_request_bytes: 1,
        concurrency: 1,
        queue: 0,
        queue_ms: 0,
        ...STREAM_LIMITS,
      },
      public: true,
      rate: {
        per_second: 0.5,
        burst: 1_000_000,
        actor_per_second: 1,
        actor_burst: 2,
        client_per_second: 3,
        client_burst: 4,
        shared: false,
        on_loss: 'share',
        headers: false,
      },
      identity: true,
      forward_headers: ['x-tenant', 'x_tenant'],
      provider_errors: 'passthrough',
      retry: { attempts: 0, budget: 1 },
      breaker: { failures: 1, ratio: 1, window_ms: 30_000, open_ms: 60_000, max_open_ms: 60_000 },
      records: { capture_bytes: 65_536, digests: true },
      probation: { seconds: 60, max_error_rate: 0, min_calls: 1 },
      console: { release: DIGEST, ui: [DIGEST], grants: ['crm.config'] },
    });
  });

  it('fills in the defaults of a given probation', async () => {
    const { descriptor } = await parseGood('a probation with its defaults');
    expect(descriptor.probation).to.deep.equal({
      seconds: 30,
      max_error_rate: 0.05,
      min_calls: 10,
    });
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

  it('warns of each origin that callers are sent to, and of redirects in the envelope', async () => {
    const warn = async (mode: string) => {
      const responses = JSON.stringify({ mode, redirects: ['module', 'https://files.example'] });
      const text = `module: crm\nprovider: { kind: mute }\nmanifest: m.json\nresponses: ${responses}`;
      const { warnings } = await parse(text);
      return warnings.map(({ rule, path }) => `${rule} ${path.join('.')}`);
    };
    expect(await warn('raw')).to.deep.equal(['redirect-origin responses.redirects.1']);
    expect(await warn('envelope')).to.deep.equal([
      'needless-option responses.redirects.0',
      'needless-option responses.redirects.1',
    ]);
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
      signers: () => [],
      signer: () => Promise.reject(new Error('unused')),
    };
    const diagnostics = await diagnosticsOf(() =>
      parse('module: crm\nprovider: { kind: x }', 'crm.yaml', adapters),
    );
    expect(diagnostics.map(summarize)).to.deep.equal([
      { rule: 'plugin-failed', line: 2, column: 19, message: "plugin 'x' cannot be imported" },
    ]);
  });

  it('reports a failed check of a plugin without its message', async () => {
    const config = define('x', (value) => {
      throw new Error(`what is ${JSON.stringify(value)}?`);
    });
    const adapters = createAdapters([{ kind: 'x', config, supports: { manifest: true } }]);
    const text = 'module: crm\nprovider: { kind: x, config: hunter2 }';
    const diagnostics = await diagnosticsOf(() => parse(text, 'crm.yaml', adapters));
    expect(diagnostics.map(summarize)).to.deep.equal([
      {
        rule: 'check-failed',
        line: 2,
        column: 30,
        message: "'provider.config' cannot be validated: the check of the plugin failed",
      },
    ]);
  });
});
