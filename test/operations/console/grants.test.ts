import { expect } from 'chai';
import {
  askBridge,
  type BridgeCall,
  createDescriptor,
  createManifest,
  type DescriptorMembers,
  digestOf,
  httpProvider,
  RELEASE,
  serviceToken,
  UI,
  UNKNOWN_DIGEST,
} from '../../support/bridge/bridge.js';
import { eventually } from '../../support/bridge/eventually.js';
import { useHost } from '../../support/http/use-host.js';

const READ = 'x.read';
const SECOND_UI = digestOf('console 2');
const LIST = { operation: 'admin_data_list', entity: 'things' };

const PARTS = {
  capabilities: [READ, 'x.other'],
  admin: { entities: [{ name: 'things', read_capability: READ, list_path: '/things' }] },
};
const MANIFEST = createManifest('acme/things', PARTS);

function describeModule(
  url: string,
  name: string,
  grants: readonly string[],
  members: DescriptorMembers = {},
): object {
  return createDescriptor(name, MANIFEST, grants, { provider: httpProvider(url), ...members });
}

function inline(moduleId: string): DescriptorMembers {
  return { manifest: { inline: createManifest(moduleId, PARTS) } };
}

describe('console bridge: grants', () => {
  const setup = useHost(({ url }) => ({
    'granted.json': describeModule(url, 'granted', [READ], {
      console: { release: RELEASE, ui: [UI, SECOND_UI], grants: [READ] },
    }),
    'other.json': describeModule(url, 'other', ['x.other']),
    'bare.json': describeModule(url, 'bare', [], { console: undefined }),
    'default.json': describeModule(url, 'default', [], { console: { ui: [UI], grants: [READ] } }),
    'no-ui.json': describeModule(url, 'no-ui', [], {
      console: { release: RELEASE, grants: [READ] },
    }),
    'lonely.json': describeModule(url, 'lonely', [READ], inline('acme/alone')),
    'shadowed.json': describeModule(url, 'shadowed', [READ], inline('plain')),
    'plain.json': describeModule(url, 'plain', ['x.other']),
    'disabled.json': describeModule(url, 'disabled', [READ], { enabled: false }),
    'stand-in.json': describeModule(url, 'stand-in', [READ], inline('disabled')),
    'bad.json': { ...describeModule(url, 'bad', [READ]), surplus: 1 },
    'stand-in-too.json': describeModule(url, 'stand-in-too', [READ], inline('bad')),
  }));

  beforeEach(() => setup.provider.answer({ body: '{"records":[],"next_cursor":null}' }));

  const ask = (call: Partial<BridgeCall>) =>
    askBridge(setup.host, { module: 'granted', permission: READ, payload: LIST, ...call });

  it('allow each of the UI artifacts', async () => {
    for (const ui of [UI, SECOND_UI]) expect((await ask({ ui })).status).to.equal(200);
  });

  it('do not allow another UI artifact', async () => {
    expect((await ask({ ui: UNKNOWN_DIGEST })).status).to.equal(403);
  });

  it('do not allow another release', async () => {
    expect((await ask({ release: UNKNOWN_DIGEST })).status).to.equal(403);
  });

  it('do not allow swapped digests', async () => {
    expect((await ask({ release: UI, ui: RELEASE })).status).to.equal(403);
  });

  it('do not allow another permission', async () => {
    expect((await ask({ permission: 'x.other' })).status).to.equal(403);
  });

  it('do not allow another module with the same digests', async () => {
    expect((await ask({ module: 'other' })).status).to.equal(403);
  });

  it('deny every caller if the descriptor has none', async () => {
    for (const module of ['bare', 'no-ui']) {
      expect((await ask({ module })).status, module).to.equal(403);
    }
  });

  it('are required for systems and administrators', async () => {
    for (const token of ['dev-system:root', 'dev-user:ada:console.admin']) {
      expect((await ask({ token, module: 'other' })).status).to.equal(403);
    }
  });

  it('use the digest of the manifest if the descriptor has no release', async () => {
    const { digest, console } = await readModule(setup.host.url, 'default');
    expect(console).to.deep.equal({ release: digest, ui: [UI], grants: [READ] });
    expect((await ask({ module: 'default', release: digest })).status).to.equal(200);
    expect((await ask({ module: 'default' })).status).to.equal(403);
  });

  it('compare a release literally, whatever the manifest is', async () => {
    const { digest, console } = await readModule(setup.host.url, 'granted');
    expect(console).to.deep.equal({ release: RELEASE, ui: [UI, SECOND_UI], grants: [READ] });
    expect((await ask({ release: digest })).status).to.equal(403);
  });

  it('decode the permission of the path once', async () => {
    const token = serviceToken(READ);
    const body = { permission: READ };
    expect((await ask({ permission: 'x%2Eread', body, token })).status).to.equal(200);
    expect((await ask({ permission: 'x%252Eread', body, token })).status).to.be.oneOf([400, 404]);
  });

  it('do not apply to a disabled module, which is 404', async () => {
    expect((await ask({ module: 'disabled' })).status).to.equal(404);
  });

  describe('a module addressed by its module_id', () => {
    it('is found if exactly one live module has the id', async () => {
      const answer = await ask({ module: 'acme%2Falone' });
      expect(answer.status, answer.text).to.equal(200);
    });

    it('is still found by its name', async () => {
      expect((await ask({ module: 'lonely' })).status).to.equal(200);
    });

    it('is 404 if several have the id', async () => {
      expect((await ask({ module: 'acme%2Fthings' })).status).to.equal(404);
    });

    it('is the module with that configured name if there is one', async () => {
      expect((await ask({ module: 'plain' })).status).to.equal(403);
      const metadata = { operation: 'modules_metadata' };
      const answer = await ask({ module: 'plain', permission: 'x.other', payload: metadata });
      expect(answer.status, answer.text).to.equal(200);
    });

    for (const name of ['disabled', 'bad']) {
      it(`is 404 if the module with that configured name is ${name}`, async () => {
        expect((await ask({ module: name })).status).to.equal(404);
      });
    }
  });

  it('change with the descriptor while the host runs', async () => {
    setup.host.drop('other.json', describeModule(setup.provider.url, 'other', ['x.other', READ]));
    await eventually(async () => expect((await ask({ module: 'other' })).status).to.equal(200));
    setup.host.drop('other.json', describeModule(setup.provider.url, 'other', ['x.other']));
    await eventually(async () => expect((await ask({ module: 'other' })).status).to.equal(403));
  });

  it('keep the old manifest when a pinned one changes', async () => {
    const manifest = createManifest('pinned', PARTS);
    setup.host.drop('pinned/manifest.json', manifest);
    const describePinned = (members: object) =>
      describeModule(setup.provider.url, 'pinned', [], {
        manifest: './pinned/manifest.json',
        ...members,
      });
    setup.host.drop('pinned.json', describePinned({ console: { ui: [UI], grants: [READ] } }));
    const digest = await eventually(async () => {
      const module = await readModule(setup.host.url, 'pinned');
      // Listed before it serves, without a digest.
      expect(module.state).to.equal('live');
      return module.digest;
    });
    const pin = { manifest_digest: digest, console: { ui: [UI], grants: [READ] } };
    setup.host.drop('pinned.json', describePinned(pin));
    const askPinned = (release: string) => ask({ module: 'pinned', release });
    await eventually(async () => expect((await askPinned(digest)).status).to.equal(200));

    setup.host.drop('pinned/manifest.json', { ...manifest, summary: 'changed' });
    await eventually(async () => {
      const { state } = await readModule(setup.host.url, 'pinned');
      expect(state).to.equal('stale');
    });
    expect((await readModule(setup.host.url, 'pinned')).digest).to.equal(digest);
    expect((await askPinned(digest)).status).to.equal(200);
  });
});

interface ModuleStatus {
  readonly name: string;
  readonly state: string;
  readonly digest: string;
  readonly console: unknown;
}

async function readModule(url: string, name: string): Promise<ModuleStatus> {
  const headers = { authorization: 'Bearer dev-service:ops:modgate.modules.read' };
  const response = await fetch(`${url}/modules`, { headers });
  const { modules } = (await response.json()) as { modules: ModuleStatus[] };
  const entry = modules.find((module) => module.name === name);
  if (entry === undefined) throw new Error(`no module ${name} in GET /modules`);
  return entry;
}
