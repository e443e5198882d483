import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Manifest } from '../../../core/contract/index.js';
import {
  askBridge,
  createDescriptor,
  createManifest,
  httpProvider,
  type Listening,
} from '../../support/bridge/bridge.js';
import { eventually } from '../../support/bridge/eventually.js';
import { useHost } from '../../support/http/use-host.js';
import { openHost, type RunningModgate } from '../../support/open-host.js';
import { answerJson, startProvider } from '../../support/provider.js';
import { createFolder } from '../../support/temporary-folder.js';

const USE = 'console.use';
const SECRET = 'the default of a secret';

async function readModules(host: Listening, token = 'dev-system:root'): Promise<Manifest[]> {
  const payload = { operation: 'modules_metadata' };
  const answer = await askBridge(host, { module: 'asked', permission: USE, payload, token });
  expect(answer.status, answer.text).to.equal(200);
  expect(answer.data).to.have.all.keys('modules');
  return (answer.data as { modules: Manifest[] }).modules;
}

const readIds = async (host: Listening) =>
  (await readModules(host)).map(({ module_id }) => module_id);

const ASKED = createManifest('asked', { capabilities: [USE] });

const FULL = createManifest('acme/full', {
  version: '1.2.3',
  summary: 'Everything that a manifest can hold',
  capabilities: ['full.read'],
  http_routes: [{ method: 'GET', path: '/x/{id}', capability: 'full.read', summary: 'One' }],
  admin: {
    entities: [{ name: 'things', read_capability: 'full.read', list_path: '/things' }],
    actions: [
      {
        name: 'act',
        capability: 'full.read',
        danger_level: 'high',
        confirmation: { message: 'Sure?', required_phrase: 'YES' },
        input_schema: { fields: [{ name: 'a', type: 'string', required: true }] },
      },
    ],
  },
  config: {
    fields: [
      { service: 'full', key: 'open', type: { kind: 'int', min: 1 }, default: 5, editable: true },
      {
        service: 'full',
        key: 'secret',
        type: { kind: 'string' },
        default: SECRET,
        sensitive: true,
        editable: true,
      },
      { service: 'full', key: 'made', type: { kind: 'string' }, generated: { bytes: 16 } },
    ],
  },
  console_slots: [{ id: 'full.slot', version: 1, label: 'A slot' }],
});

/** The part that consoles see. */
const SHOWN = {
  ...FULL,
  config: {
    fields: FULL.config?.fields?.map(({ default: value, ...field }) =>
      field.sensitive || value === undefined ? field : { ...field, default: value },
    ),
  },
};

function describeModule(name: string, manifest: Manifest): object {
  return createDescriptor(name, manifest, []);
}

describe('console bridge: modules_metadata', () => {
  const setup = useHost(() => ({
    'asked.json': createDescriptor('asked', ASKED, [USE]),
    'a.json': describeModule('a-name', createManifest('zebra')),
    'z.json': describeModule('z-name', createManifest('aardvark')),
    'm.json': describeModule('m-name', FULL),
    'u.json': describeModule('u-name', createManifest('acme-x')),
    'refused.json': { ...describeModule('refused', createManifest('refused')), surplus: 1 },
    'bad.json': createDescriptor('bad', { ...createManifest('bad'), http_routes: 5 } as never, []),
    'disabled.json': { ...describeModule('disabled', createManifest('disabled')), enabled: false },
    'loser.json': describeModule('asked', createManifest('loser')),
  }));

  it('shows the manifest of each live module once, sorted by module_id', async () => {
    const ids = ['aardvark', 'acme-x', 'acme/full', 'asked', 'zebra'];
    expect(await readIds(setup.host)).to.deep.equal(ids);
  });

  it('shows complete manifests without the defaults of sensitive fields', async () => {
    const modules = await readModules(setup.host);
    expect(modules.find(({ module_id }) => module_id === 'acme/full')).to.deep.equal(SHOWN);
    expect(JSON.stringify(modules)).to.not.include(SECRET);
  });

  it('shows every module to system, console.admin and modgate.modules.read', async () => {
    const all = await readModules(setup.host);
    const reader = `dev-service:a:${USE},modgate.modules.read`;
    for (const token of [reader, 'dev-user:ada:console.admin']) {
      expect(await readModules(setup.host, token)).to.deep.equal(all);
    }
  });

  it('shows others only the modules in which they hold a capability', async () => {
    const scopes = {
      [USE]: ['asked'],
      [`${USE},full.read`]: ['acme/full', 'asked'],
      [`${USE},full.read.more,console.admin`]: ['asked'],
    };
    for (const [scope, ids] of Object.entries(scopes)) {
      const modules = await readModules(setup.host, `dev-service:a:${scope}`);
      expect(modules.map(({ module_id }) => module_id)).to.deep.equal(ids);
    }
  });

  it('changes with the modules while the host runs', async () => {
    setup.host.drop('new.json', describeModule('new', createManifest('new')));
    await eventually(async () => expect(await readIds(setup.host)).to.include('new'));
    setup.host.remove('new.json');
    await eventually(async () => expect(await readIds(setup.host)).to.not.include('new'));
  });

  it('shows the last good manifest of a module with an invalid file', async () => {
    setup.host.drop('stale.json', describeModule('stale', createManifest('stale')));
    await eventually(async () => expect(await readIds(setup.host)).to.include('stale'));
    setup.host.drop('stale.json', 'module: [');
    await eventually(async () => {
      const { body } = await fetchStatus(setup.host.url);
      expect(body.find(({ name }) => name === 'stale')?.state).to.equal('stale');
    });
    expect(await readIds(setup.host)).to.include('stale');
  });
});

interface Status {
  readonly name: string | null;
  readonly state: string;
}

async function fetchStatus(url: string): Promise<{ readonly body: Status[] }> {
  const headers = { authorization: 'Bearer dev-system:root' };
  const response = await fetch(`${url}/modules`, { headers });
  return { body: ((await response.json()) as { modules: Status[] }).modules };
}

describe('console bridge: waiting modules', () => {
  let folder: string;
  let host: RunningModgate | undefined;

  beforeEach(() => {
    folder = createFolder();
    mkdirSync(join(folder, 'modules.d'));
  });

  afterEach(async () => {
    await host?.stop();
    host = undefined;
  });

  async function restart(): Promise<RunningModgate> {
    await host?.stop();
    host = await openHost([
      ...['serve', '--env', 'development', '--port', '0'],
      ...['--modules', join(folder, 'modules.d'), '--state', join(folder, 'state')],
    ]);
    return host;
  }

  function write(name: string, descriptor: object): void {
    writeFileSync(join(folder, 'modules.d', name), JSON.stringify(descriptor));
  }

  it('are shown with their last good manifest, or omitted without one', async () => {
    const provider = await startProvider(answerJson(createManifest('known')));
    const fromProvider = (name: string, url: string) =>
      createDescriptor(name, ASKED, [], {
        provider: httpProvider(url),
        manifest: { from: 'provider' },
      });
    write('asked.json', createDescriptor('asked', ASKED, [USE]));
    write('known.json', fromProvider('known', provider.url));
    write('unknown.json', fromProvider('unknown', 'http://127.0.0.1:1'));
    try {
      const first = await restart();
      await eventually(async () => expect(await readIds(first)).to.deep.equal(['asked', 'known']));
    } finally {
      await provider.stop();
    }
    const second = await restart();
    await eventually(async () => expect(await readIds(second)).to.deep.equal(['asked', 'known']));
    const { body } = await fetchStatus(second.url);
    expect(body.find(({ name }) => name === 'known')?.state).to.equal('waiting');
  });
});
