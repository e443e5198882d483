import { expect } from 'chai';
import { useExchangeHost } from '../../support/auth/use-exchange-host.js';
import { checkJsonIn } from '../../support/cli/check-json.js';
import { createWorkplace } from '../../support/cli/run-in.js';
import { call, parseJson } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { statusOf } from '../../support/http/use-cache.js';
import {
  CONTRACT_URL,
  SUPERSTRUCT_URL,
  writePlugin,
} from '../../support/isolation/write-plugin.js';
import { createFolder } from '../../support/temporary-folder.js';

/**
 * Adapters whose providers answer with the token of the caller, or with its actor. `acme-exchange`
 * describes its exchange, whose member has a name of its own; `acme-silent` describes nothing.
 */
const ENTRY = `import { createHash } from 'node:crypto';
import { defineAdapter } from ${JSON.stringify(CONTRACT_URL)};
import { object, string } from ${JSON.stringify(SUPERSTRUCT_URL)};
const common = {
  config: object({ on_behalf: string() }),
  supports: {},
  open: (config, { callerTokens }) => ({
    manifest: async () => { throw new Error('it is inline'); },
    check: async () => {},
    invoke: async ({ context }) => {
      const token = callerTokens?.find(context);
      const value = token ? createHash('sha256').update(token.value.reveal()).digest('hex') : null;
      const body = { value, actor: context.actor.id, hasTokens: callerTokens !== undefined };
      return {
        status: 200,
        headers: { 'content-type': 'application/json', 'cache-control': 'public, max-age=600' },
        body: Buffer.from(JSON.stringify(body)),
      };
    },
  }),
};
export default { adapters: [
  defineAdapter({
    ...common,
    kind: 'acme-exchange',
    describeConfig: ({ on_behalf: issuer }) => ({
      hostUses: [],
      exchange: { path: ['on_behalf'], issuer },
    }),
  }),
  defineAdapter({ ...common, kind: 'acme-silent' }),
  defineAdapter({ ...common, kind: 'acme-plain', describeConfig: () => ({ hostUses: [] }) }),
  defineAdapter({ ...common, kind: 'acme-wrong', describeConfig: () => ({ exchange: {} }) }),
] };`;

const ROUTES = [
  {
    method: 'GET',
    path: '/items/{id}',
    capability: 'crm.read',
    operation: { cache: { ttl_ms: 600_000, shared: true } },
  },
];
const KINDS = ['acme-exchange', 'acme-silent', 'acme-plain', 'acme-wrong'];

interface Seen {
  /** The digest of the caller's token. */
  readonly value: string | null;
  readonly actor: string;
  readonly hasTokens: boolean;
}

function describeKind(kind: string, issuer: string): object {
  return describeModule(kind, 'http://127.0.0.1:9', ROUTES, {
    provider: { kind, config: { on_behalf: issuer } },
    callers: ['user'],
  });
}

describe('the cache of a module with an adapter of another author', () => {
  const folder = createFolder();
  writePlugin(folder, { name: 'acme', manifest: { kinds: KINDS }, entry: ENTRY });
  const setup = useExchangeHost(
    (_describeOn, server) =>
      Object.fromEntries(KINDS.map((kind) => [`${kind}.json`, describeKind(kind, server.url)])),
    ['--plugins', folder],
  );

  const get = async (kind: string, as: string) => {
    const response = await call(setup.host, { target: `/modules/${kind}/http/items/1`, as });
    expect(response.status, response.body.toString()).to.equal(200);
    return { data: parseJson(response)['data'] as Seen, status: statusOf(response) };
  };

  it('gives no caller a response for the token of another, whatever the setting is called', async () => {
    const tokens = await Promise.all(['ann', 'ann', 'bob'].map((name) => setup.tokenOf(name)));
    const values = new Set<string | null>();
    for (const token of tokens) {
      const first = await get('acme-exchange', token);
      const again = await get('acme-exchange', token);
      expect(first.status).to.include('stored');
      expect(again.status).to.include('hit');
      expect(again.data).to.deep.equal(first.data);
      values.add(first.data.value);
    }
    expect(values).to.have.length(tokens.length);
    expect(values).to.not.include(null);
  });

  it('is not shared, and has no tokens of callers, if the adapter does not describe its config', async () => {
    for (const name of ['ann', 'bob']) {
      const { data, status } = await get('acme-silent', await setup.tokenOf(name));
      expect(data).to.include({ value: null, hasTokens: false }).and.have.property('actor');
      expect(data.actor).to.include(name);
      expect(status).to.include('stored');
    }
  });

  it('is shared if the adapter describes no exchange', async () => {
    const first = await get('acme-plain', await setup.tokenOf('ann'));
    const second = await get('acme-plain', await setup.tokenOf('bob'));
    expect(first.data.hasTokens).to.equal(false);
    expect(second.status).to.include('hit');
    expect(second.data).to.deep.equal(first.data);
  });

  it('is explained by modgate check', async () => {
    const place = createWorkplace();
    const check = async (kind: string) => {
      const file = place.write('crm.json', describeKind(kind, 'https://issuer.example'));
      const { findings } = await checkJsonIn(place, file, '--plugins', folder);
      return findings.map((line) => line['message']);
    };
    const ofCache = "the cache of route 'GET /items/{id}' is not shared, since the";
    expect(await check('acme-exchange')).to.deep.equal([
      `'provider.config.on_behalf': ${ofCache} provider knows who calls`,
    ]);
    expect(await check('acme-silent')).to.deep.equal([
      `'provider.kind': ${ofCache} adapter does not say whether the provider knows who calls`,
    ]);
    expect(await check('acme-plain')).to.deep.equal([]);
    expect(await check('acme-wrong')).to.deep.equal([
      "the adapter of kind 'acme-wrong' returns an invalid config description",
    ]);
  });
});
