import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { assert, asyncProperty, constantFrom, uniqueArray } from 'fast-check';
import { object, string } from 'superstruct';
import {
  defineAdapter,
  defineSigner,
  type ProviderAdapter,
  type SignerFactory,
} from '../../../core/contract/index.js';
import { descriptorStruct } from '../../../core/descriptor/sections.js';
import { inspectFolder } from '../../../core/modules/releases/inspect-release.js';
import {
  type InspectedRelease,
  listCodeNeeds,
  type StoredSecrets,
} from '../../../core/modules/releases/needs-code.js';
import { httpAdapter } from '../../../plugins/http/http-adapter.js';
import { buildManifest } from '../../support/http/modules.js';
import { createFolder } from '../../support/temporary-folder.js';

const open = () => {
  throw new Error('no release opens a provider');
};
/** An adapter of another author: its files have plain paths, or it does not say what it uses. */
const custom = { config: object({ folder: string(), token: string() }), supports: {}, open };
const ADAPTERS: Readonly<Record<string, ProviderAdapter>> = {
  http: httpAdapter as ProviderAdapter,
  other: defineAdapter({ ...httpAdapter, kind: 'other' }) as ProviderAdapter,
  silent: defineAdapter({ ...custom, kind: 'silent' }) as ProviderAdapter,
  folder: defineAdapter({
    ...custom,
    kind: 'folder',
    describeConfig: ({ folder, token }: { folder: string; token: string }) => ({
      hostUses: [
        { kind: 'file', name: folder },
        { kind: 'file', name: token },
      ],
    }),
  }) as ProviderAdapter,
  careless: defineAdapter({
    ...custom,
    kind: 'careless',
    describeConfig: () => ({ hostUses: [{ kind: 'anything', name: '' }] }) as never,
  }) as ProviderAdapter,
};
const SIGNER = defineSigner({ name: 'signer', config: object({ region: string() }), open });
const plugins = {
  kinds: () => Object.keys(ADAPTERS),
  isShipped: () => false,
  adapter: async (kind: string) => ADAPTERS[kind] as ProviderAdapter,
  signers: () => ['signer'],
  signer: async () => SIGNER as SignerFactory,
};

const NONE: InspectedRelease = { descriptors: [], files: new Map(), places: new Map() };

type Json = Readonly<Record<string, unknown>>;
type Files = Readonly<Record<string, string>>;

const MANIFEST = buildManifest('crm', [{ method: 'GET', path: '/items', capability: 'a' }]);
const FILES: Files = {
  'manifest.json': JSON.stringify(MANIFEST),
  'endpoints.json': '["https://a.test"]',
  'candidate.json': '["https://b.test"]',
  'ca.pem': 'one',
  'unnamed.txt': 'one',
};
const CONFIG = {
  endpoints: { file: './endpoints.json' },
  tls: { ca: './ca.pem', servername: 'a.test' },
  resolver: { refresh_ms: 1000 },
  auth: { bearer: 'env:TOKEN' },
};
const CANDIDATE = { endpoints: { file: './candidate.json' } };
const BASE: Json = {
  module: 'crm',
  provider: { kind: 'http', config: CONFIG },
  manifest: './manifest.json',
  callers: ['service', 'user'],
  candidate: CANDIDATE,
  mcp: { expose: 'read', approve: 'danger', only: ['a', 'b'] },
};

const configured = (config: object) => ({ provider: { kind: 'http', config } });
const changed = (config: object) => configured({ ...CONFIG, ...config });

/** For each member of a descriptor, changes that need no further right, and changes that do. */
const CHANGES: Readonly<Record<string, { free?: readonly Json[]; guarded?: readonly Json[] }>> = {
  apiVersion: { free: [{ apiVersion: 'modgate/v1' }] },
  module: { guarded: [{ module: 'other' }] },
  owner: { free: [{ owner: { name: 'crm' } }] },
  enabled: { free: [{ enabled: false }] },
  provider: {
    guarded: [
      { provider: { kind: 'other', config: CONFIG } },
      ...[
        { endpoints: ['https://evil.test'] },
        { endpoints: { file: './candidate.json' } },
        { resolver: { servers: ['10.0.0.1'] } },
        { tls: { ca: './unnamed.txt', servername: 'a.test' } },
        { tls: { ca: './ca.pem' } },
        { auth: { bearer: 'env:OTHER' } },
        { auth: { basic: { username: 'a', password: 'env:TOKEN' } } },
        { auth: { signer: 'signer', config: { region: 'a' } } },
        {
          auth: {
            oauth2: { issuer: 'https://i.test', client_id: 'a', client_secret: 'env:TOKEN' },
          },
        },
        { manifest_path: '/echo' },
        { health: { path: '/echo' } },
        { strategy: 'least_in_flight' },
      ].map(changed),
    ],
  },
  manifest: { guarded: [{ manifest: { inline: MANIFEST } }] },
  manifest_digest: { guarded: [{ manifest_digest: `sha256:${'0'.repeat(64)}` }] },
  limits: { free: [{ limits: { timeout_ms: 7 } }] },
  rate: { free: [{ rate: { per_second: 7 } }] },
  identity: { guarded: [{ identity: true }] },
  callers: {
    free: [{ callers: ['service'] }],
    guarded: [{ callers: ['service', 'user', 'system'] }, { callers: ['system'] }],
  },
  allow: { free: [{ allow: { addresses: ['10.0.0.0/8'] } }] },
  public: { guarded: [{ public: true }] },
  mount: { guarded: [{ mount: [{ path: '/crm' }] }] },
  forward_headers: { guarded: [{ forward_headers: ['x-tenant'] }] },
  forward_client: { guarded: [{ forward_client: true }] },
  responses: {
    free: [{ responses: { expose_headers: ['x-a'] } }],
    guarded: [
      { responses: { mode: 'raw' } },
      { responses: { origins: ['https://evil.test'] } },
      { responses: { redirects: ['https://evil.test'] } },
    ],
  },
  provider_errors: { guarded: [{ provider_errors: 'passthrough' }] },
  cache: { free: [{ cache: 'off' }] },
  retry: { free: [{ retry: { attempts: 0 } }] },
  breaker: { free: [{ breaker: { failures: 9 } }] },
  records: { free: [{ records: { capture_bytes: 9 } }] },
  probation: { free: [{ probation: { seconds: 9 } }] },
  candidate: {
    guarded: [
      { candidate: undefined },
      { candidate: { ...CANDIDATE, share: 1 } },
      { candidate: { ...CANDIDATE, methods: ['POST'] } },
      { candidate: { endpoints: ['https://evil.test'] } },
      { candidate: { endpoints: { file: './endpoints.json' } } },
    ],
  },
  schemas: { free: [{ schemas: { input: 'off' } }] },
  console: { free: [{ console: { grants: ['a'] } }] },
  mcp: {
    free: [
      { mcp: { expose: 'none', only: ['a', 'b'] } },
      { mcp: { expose: 'read', approve: 'always', only: ['b'] } },
      { mcp: { expose: 'read', only: ['a', 'b'], result_bytes: 1024 } },
    ],
    guarded: [
      { mcp: { expose: 'all', only: ['a', 'b'] } },
      { mcp: { expose: 'read', approve: 'never', only: ['a', 'b'] } },
      { mcp: { expose: 'read', only: ['a', 'c'] } },
      { mcp: { expose: 'read', only: ['a', 'b'], result_bytes: 200_000 } },
      { mcp: { expose: 'read', only: ['a', 'b'], tools: { a: { description: 'Harmless.' } } } },
      { mcp: { expose: 'read' } },
    ],
  },
};
const listAll = (kind: 'free' | 'guarded') =>
  Object.values(CHANGES).flatMap((one) => one[kind] ?? []);

describe('the right for code that a release needs', () => {
  let folder = '';
  beforeEach(() => {
    folder = createFolder();
  });

  const inspect = async (descriptor: Json, files: Files = FILES): Promise<InspectedRelease> => {
    writeFileSync(join(folder, 'crm.json'), JSON.stringify(descriptor));
    const { descriptors, diagnostics } = await inspectFolder(folder, { plugins, environment: {} });
    expect(diagnostics.map(({ message }) => message)).to.deep.equal([]);
    const contents = Object.entries(files).map(
      ([path, text]) => [path, Buffer.from(text)] as const,
    );
    return { descriptors, files: new Map(contents), places: new Map() };
  };
  const needs = async (
    after: InspectedRelease,
    before: InspectedRelease | null,
    stored: StoredSecrets = new Map(),
  ) => {
    const readActive = async () => before ?? NONE;
    return (await listCodeNeeds(after, readActive, stored)).length > 0;
  };

  it('has a case for each member of a descriptor', () => {
    expect(Object.keys(CHANGES)).to.have.members(Object.keys(descriptorStruct.schema));
    for (const { free = [], guarded = [] } of Object.values(CHANGES)) {
      expect(free.length + guarded.length).to.be.greaterThan(0);
    }
  });

  it('is for each change that may send a credential elsewhere, or lets others use it', async () => {
    const before = await inspect(BASE);
    expect(await needs(await inspect(BASE), before)).to.equal(false);
    expect(await needs(await inspect(BASE), null)).to.equal(true);
    for (const change of listAll('guarded')) {
      const after = await inspect({ ...BASE, ...change });
      expect(await needs(after, before), JSON.stringify(change)).to.equal(true);
    }
    for (const change of listAll('free')) {
      const after = await inspect({ ...BASE, ...change });
      expect(await needs(after, before), JSON.stringify(change)).to.equal(false);
    }
  });

  it('is for every combination of changes with one that needs it', async () => {
    const before = await inspect(BASE);
    const free = uniqueArray(constantFrom(...listAll('free')), { maxLength: 6 });
    const guarded = uniqueArray(constantFrom(...listAll('guarded')), { maxLength: 2 });
    await assert(
      asyncProperty(free, guarded, async (some, others) => {
        const after = await inspect(Object.assign({}, BASE, ...some, ...others));
        expect(await needs(after, before)).to.equal(others.length > 0);
      }),
      { numRuns: 60 },
    );
  });

  it('is for each named file with another content, and for no other file', async () => {
    const before = await inspect(BASE);
    for (const path of Object.keys(FILES)) {
      const after = await inspect(BASE, { ...FILES, [path]: '["https://evil.test"]' });
      expect(await needs(after, before), path).to.equal(path !== 'unnamed.txt');
    }
  });

  it('is for files that an adapter reads by itself, alone or in a folder', async () => {
    const provider = { kind: 'folder', config: { folder: './data/', token: '/run/token' } };
    const descriptor = { ...BASE, candidate: undefined, provider };
    const files = { ...FILES, 'data/places.txt': 'a', 'database.txt': 'a' };
    const before = await inspect(descriptor, files);
    expect(before.descriptors[0]?.references).to.deep.equal(['file:/run/token']);
    const change = (path: string, text: string) => inspect(descriptor, { ...files, [path]: text });
    expect(await needs(await change('data/places.txt', 'b'), before)).to.equal(true);
    expect(await needs(await change('data/more.txt', 'b'), before)).to.equal(true);
    expect(await needs(await change('database.txt', 'b'), before)).to.equal(false);
  });

  it('is for a signer, which has credentials of its own', async () => {
    const config = {
      endpoints: ['https://a.test'],
      auth: { signer: 'signer', config: { region: 'a' } },
    };
    const descriptor = { ...BASE, candidate: undefined, ...configured(config) };
    const before = await inspect(descriptor);
    expect(await needs(before, null)).to.equal(true);
    expect(
      await needs(await inspect({ ...descriptor, limits: { timeout_ms: 7 } }), before),
    ).to.equal(false);
    const moved = configured({ ...config, endpoints: ['https://b.test'] });
    expect(await needs(await inspect({ ...descriptor, ...moved }), before)).to.equal(true);
    const elsewhere = configured({
      ...config,
      auth: { signer: 'signer', config: { region: 'b' } },
    });
    expect(await needs(await inspect({ ...descriptor, ...elsewhere }), before)).to.equal(true);
  });

  it('is not for a descriptor without credentials', async () => {
    const descriptor = {
      ...BASE,
      candidate: undefined,
      ...configured({ endpoints: ['http://a.test'] }),
    };
    const before = await inspect(descriptor);
    expect(await needs(before, null)).to.equal(false);
    const moved = { ...descriptor, ...configured({ endpoints: ['http://b.test'] }), public: true };
    expect(await needs(await inspect(moved), before)).to.equal(false);
  });

  it('is for each descriptor of an adapter that does not say what it uses', async () => {
    const provider = { kind: 'silent', config: { folder: 'a', token: 'b' } };
    const before = await inspect({ ...BASE, candidate: undefined, provider });
    expect(await needs(before, before)).to.equal(true);
  });

  it('is not known for an adapter that says it wrongly, whose descriptors are rejected', async () => {
    const provider = { kind: 'careless', config: { folder: 'a', token: 'b' } };
    writeFileSync(
      join(folder, 'crm.json'),
      JSON.stringify({ ...BASE, candidate: undefined, provider }),
    );
    const { diagnostics } = await inspectFolder(folder, { plugins, environment: {} });
    expect(diagnostics[0]?.message).to.include(
      "the adapter of kind 'careless' returns an invalid config description",
    );
  });

  it('is for stored secrets at any place but the last one, and that of the active release', async () => {
    const plain = {
      ...BASE,
      candidate: undefined,
      ...configured({ endpoints: ['http://a.test'] }),
    };
    const release = await inspect(plain);
    const disabled = await inspect({ ...plain, enabled: false });
    const at = (one: InspectedRelease, place: string) => ({
      ...one,
      places: new Map([['crm', place]]),
    });
    const secrets = (place: string | null) => new Map([['crm', place]]);
    expect(await needs(at(release, 'a'), null, secrets('a'))).to.equal(false);
    expect(await needs(at(release, 'b'), null, secrets('a'))).to.equal(true);
    expect(await needs(at(release, 'a'), null, secrets(null))).to.equal(true);
    expect(await needs(at(release, 'b'), at(release, 'b'), secrets('a'))).to.equal(false);
    expect(await needs(at(release, 'b'), at(disabled, 'b'), secrets('a'))).to.equal(true);
    expect(await needs(at(disabled, 'b'), at(release, 'a'), secrets('a'))).to.equal(true);
    // An invalid manifest has no place.
    expect(await needs(release, release, secrets('a'))).to.equal(true);
    expect(await needs(at(release, 'b'), null, new Map([['other', 'a']]))).to.equal(false);
  });
});
