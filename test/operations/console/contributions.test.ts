import { expect } from 'chai';
import type { ConsoleContribution } from '../../../core/contract/index.js';
import {
  askBridge,
  bridgeBody,
  createDescriptor,
  createManifest,
  sendBridge,
  serviceToken,
} from '../../support/bridge/bridge.js';
import { readBridgeCorpus } from '../../support/bridge/corpus.js';
import { expectProblem, reasonOf } from '../../support/http/expect-problem.js';
import { useHost } from '../../support/http/use-host.js';

interface BindingVectors {
  readonly context: unknown;
  readonly bindings: readonly {
    readonly title: string;
    readonly path: string;
    /** Absent if it is omitted. */
    readonly found?: unknown;
  }[];
}

interface Contribution {
  readonly kind: string;
  readonly key: string;
  readonly label: string;
  readonly moduleName: string;
  readonly actionName: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly icon: string | null;
  readonly requiredCapabilities: readonly string[];
}

const USE = 'console.use';
const { context, bindings } = readBridgeCorpus<BindingVectors>('bindings');

type Binding = NonNullable<ConsoleContribution['action']['input_bindings']>[number];

function bind(input: string, path: string): Binding {
  return { input, value: { kind: 'slot_context', path } };
}

function contribute(
  module: string,
  target: string,
  label: string,
  members: Partial<ConsoleContribution> = {},
  input_bindings: readonly Binding[] = [],
): ConsoleContribution {
  const action = { kind: 'admin_action', module, name: 'act', input_bindings } as const;
  return { target, label, icon: 'spark', action, ...members };
}

/** A module with the action that the contributions name. */
function contributor(
  name: string,
  moduleId: string,
  contributions: readonly ConsoleContribution[],
): object {
  const manifest = createManifest(moduleId, {
    capabilities: [USE, 'acting'],
    admin: { actions: [{ name: 'act', capability: 'acting' }] },
    console_slots: [{ id: `${moduleId}.slot`, version: 2 }],
    console_contributions: contributions,
  });
  return createDescriptor(name, manifest, [USE]);
}

const FILES = {
  'b.json': contributor('b-module', 'b-module', [
    contribute('b-module', 'ordered', 'b second', {}),
    contribute('b-module', 'ordered', 'b first', {}),
    contribute('b-module', 'other', 'elsewhere'),
    contribute('b-module', 'ORDERED', 'of another case'),
  ]),
  'z.json': contributor('a-module', 'acme/a', [contribute('acme/a', 'ordered', 'a only')]),
  'c.json': contributor('c-module', 'c-module', [
    contribute('c-module', 'versions', 'no version'),
    contribute('c-module', 'c-module.slot', 'slot, no version'),
    contribute('c-module', 'c-module.slot', 'slot, its version', { target_version: 2 }),
    contribute('c-module', 'c-module.slot', 'slot, an older version', { target_version: 1 }),
    contribute('c-module', 'c-module.slot', 'slot, a newer version', { target_version: 3 }),
    contribute('c-module', 'c-module.slot', 'slot, the version of s', { target_version: 4 }),
    contribute('c-module', 'versions', 'no slot, a version', { target_version: 9 }),
    contribute('b-module', 'across', "another module's action"),
  ]),
  'd.json': contributor('d-module', 'd-module', [
    contribute('d-module', 'guarded', 'needs nothing'),
    contribute('d-module', 'guarded', 'needs one', { required_capabilities: ['one'] }),
    contribute('d-module', 'guarded', 'needs two', { required_capabilities: ['one', 'two'] }),
    {
      target: 'plain',
      label: 'plain',
      action: { kind: 'admin_action', module: 'd-module', name: 'act' },
    },
  ]),
  // The slot of c-module in another version. A console may have either.
  's.json': createDescriptor(
    's-module',
    createManifest('s-module', { console_slots: [{ id: 'c-module.slot', version: 4 }] }),
    [],
  ),
  'u.json': contributor('u-module', 'u-module', [
    contribute('u-module', 'unresolved', 'own'),
    {
      ...contribute('b-module', 'unresolved', 'an action that the module does not have'),
      action: { kind: 'admin_action', module: 'b-module', name: 'lacking' },
    },
    contribute('unknown', 'unresolved', 'an action of an unknown module'),
    contribute('disabled', 'unresolved', 'an action of a disabled module'),
    contribute('acme/twin', 'unresolved', 'an action of an ambiguous id'),
  ]),
  'twin-1.json': contributor('twin-1', 'acme/twin', []),
  'twin-2.json': contributor('twin-2', 'acme/twin', []),
  'e.json': contributor('e-module', 'e-module', [
    contribute(
      'e-module',
      'bound',
      'bound',
      {},
      bindings.map(({ path }, index) => bind(`input_${index}`, path)),
    ),
    contribute('e-module', 'hostile', 'hostile', {}, [
      bind('__proto__', 'evil'),
      bind('constructor', 'evil'),
    ]),
  ]),
  'repeated.json': contributor(
    'repeated',
    'repeated',
    Array.from({ length: 20 }, (_, index) =>
      contribute('repeated', 'repeated', `${index}`, {}, [bind('a', 'user'), bind('b', 'user')]),
    ),
  ),
  'deep.json': contributor('deep', 'deep', [
    contribute(
      'deep',
      'deep',
      'deep',
      {},
      Array.from({ length: 20 }, (_, index) => bind(`input_${index}`, `lacking_${index}.id`)),
    ),
  ]),
  'refused.json': {
    ...contributor('refused', 'refused', [contribute('refused', 'ordered', 'refused')]),
    surplus: 1,
  },
  'disabled.json': {
    ...contributor('disabled', 'disabled', [contribute('disabled', 'ordered', 'disabled')]),
    enabled: false,
  },
};

describe('console bridge: contributions_resolve', () => {
  const setup = useHost(() => FILES);

  async function resolve(target: string, members: object = {}, token?: string) {
    const payload = { operation: 'contributions_resolve', target, ...members };
    const call = { module: 'b-module', permission: USE, payload };
    const answer = await askBridge(setup.host, token === undefined ? call : { ...call, token });
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.data).to.have.all.keys('data');
    return (answer.data as { data: Contribution[] }).data;
  }

  const resolveLabels = async (...args: Parameters<typeof resolve>) =>
    (await resolve(...args)).map(({ label }) => label);

  it('returns each with all fields', async () => {
    const [only, ...rest] = await resolve('other');
    expect(rest).to.deep.equal([]);
    expect(only).to.deep.equal({
      kind: 'admin_action',
      key: 'b-module:other:act',
      label: 'elsewhere',
      moduleName: 'b-module',
      actionName: 'act',
      input: {},
      icon: 'spark',
      requiredCapabilities: [],
    });
  });

  it('returns the same fields if the manifest omits them', async () => {
    const [only] = await resolve('plain');
    expect(only).to.have.all.keys(
      ...['kind', 'key', 'label', 'moduleName', 'actionName', 'input', 'icon'],
      'requiredCapabilities',
    );
    expect(only?.icon).to.equal(null);
    expect(only?.requiredCapabilities).to.deep.equal([]);
  });

  it('sorts by module name, then in the order of the manifest', async () => {
    expect(await resolveLabels('ordered')).to.deep.equal(['a only', 'b second', 'b first']);
  });

  it('builds the key with the module_id', async () => {
    const [first] = await resolve('ordered');
    expect(first?.key).to.equal('acme/a:ordered:act');
  });

  it('returns an empty list for an unknown target', async () => {
    for (const target of ['unknown', '', '__proto__']) {
      expect(await resolve(target)).to.deep.equal([]);
    }
  });

  it('names the module of the action, even if it is another one', async () => {
    const [only] = await resolve('across');
    expect(only?.actionName).to.equal('act');
    expect(only?.moduleName).to.equal('b-module');
  });

  it('omits one whose action no live module has', async () => {
    expect(await resolveLabels('unresolved')).to.deep.equal(['own']);
  });

  it('omits one whose version differs from every live slot', async () => {
    const labels = await resolveLabels('c-module.slot');
    const remaining = ['slot, no version', 'slot, its version', 'slot, the version of s'];
    expect(labels).to.deep.equal(remaining);
  });

  it('keeps one with a version if no live module has the slot', async () => {
    expect(await resolveLabels('versions')).to.deep.equal(['no version', 'no slot, a version']);
  });

  it('returns those whose required capabilities the actor holds', async () => {
    const ask = (token: string) => resolveLabels('guarded', {}, token);
    const all = ['needs nothing', 'needs one', 'needs two'];
    expect(await ask(serviceToken(USE))).to.deep.equal(['needs nothing']);
    expect(await ask(serviceToken(USE, 'one'))).to.deep.equal(['needs nothing', 'needs one']);
    expect(await ask(serviceToken(USE, 'two'))).to.deep.equal(['needs nothing']);
    expect(await ask(serviceToken(USE, 'one', 'two'))).to.deep.equal(all);
    expect(await ask('dev-system:root')).to.deep.equal(all);
    expect(await ask('dev-user:ada:console.admin')).to.deep.equal(all);
    expect(await ask(`dev-user:ada:${USE}`)).to.deep.equal(['needs nothing']);
    expect(await ask(serviceToken(USE, 'console.admin'))).to.deep.equal(['needs nothing']);
  });

  bindings.forEach(({ title, path, ...rest }, index) => {
    it(`${'found' in rest ? 'finds' : 'omits'} ${title} by ${path}`, async () => {
      const [only] = await resolve('bound', { context });
      const name = `input_${index}`;
      expect(Object.hasOwn(only?.input ?? {}, name)).to.equal('found' in rest);
      expect(only?.input[name]).to.deep.equal(rest.found);
    });
  });

  it('binds nothing from a context that is absent or not an object', async () => {
    for (const members of [
      {},
      { context: null },
      { context: 5 },
      { context: 'user' },
      { context: [] },
    ]) {
      const [only] = await resolve('bound', members);
      expect(only?.input).to.deep.equal({});
    }
  });

  it('rejects a context that would make the response too long', async () => {
    // 40 bindings: 4 MiB of the response are 104,857 bytes for each.
    const read = (size: number) => resolve('repeated', { context: { user: 'a'.repeat(size) } });
    expect(await read(104_000)).to.have.length(20);
    const payload = { operation: 'contributions_resolve', target: 'repeated' };
    for (const user of ['a'.repeat(105_000), ['a'.repeat(1_000_000)]]) {
      const { response } = await askBridge(setup.host, {
        module: 'b-module',
        permission: USE,
        payload: { ...payload, context: { user } },
      });
      expect(reasonOf(expectProblem(response, 400), 'payload.context')).to.match(/4194304 bytes/);
    }
  });

  it('rejects a context whose values take too long to find', async () => {
    // Each of the 20 paths reads the whole context.
    const { response } = await askBridge(setup.host, {
      module: 'b-module',
      permission: USE,
      payload: {
        ...{ operation: 'contributions_resolve', target: 'deep' },
        context: { other: 'a'.repeat(500_000) },
      },
    });
    expect(reasonOf(expectProblem(response, 400), 'payload.context')).to.match(/8388608 bytes/);
  });

  it('keeps every digit of a number, and text that looks like one', async () => {
    const exact =
      '{"id":12345678901234567890,"rate":-0.1234567890123456789,"far":1e400,' +
      '"text":"\\" 12345678901234567890","all":[1,12345678901234567890]}';
    const payload = { operation: 'contributions_resolve', target: 'hostile', context: 'CONTEXT' };
    const text = JSON.stringify(bridgeBody({ permission: USE, payload })).replace(
      '"CONTEXT"',
      () => `{"evil":${exact}}`,
    );
    const answer = await sendBridge(setup.host, { module: 'b-module', permission: USE }, text);
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.text).to.include(`"__proto__":${exact},"constructor":${exact}`);
  });

  it('reads an own __proto__ of a context as a plain member', async () => {
    const body = JSON.stringify(
      bridgeBody({
        permission: USE,
        payload: { operation: 'contributions_resolve', target: 'bound', context: 'CONTEXT' },
      }),
    );
    const text = body.replace('"CONTEXT"', () => '{"__proto__":{"user":{"id":"inherited"}}}');
    const call = { module: 'b-module', permission: USE };
    const answer = await sendBridge(setup.host, call, text);
    expect(answer.status, answer.text).to.equal(200);
    const [only] = (answer.data as { data: Contribution[] }).data;
    expect(Object.values(only?.input ?? {})).to.not.include('inherited');
  });

  it('keeps inputs that are named like members of Object', async () => {
    const [only] = await resolve('hostile', { context: { evil: { polluted: true } } });
    const names = Object.getOwnPropertyNames(only?.input);
    expect(names).to.have.members(['__proto__', 'constructor']);
    expect((await resolve('other'))[0]).to.not.have.property('polluted');
  });

  it('omits modules that are rejected or disabled', async () => {
    const labels = await resolveLabels('ordered', {}, 'dev-system:root');
    expect(labels).to.not.include.members(['refused']);
    expect(labels).to.not.include.members(['disabled']);
  });
});
