import { expect } from 'chai';
import type { ConfigField } from '../../../core/contract/index.js';
import { askBridge, createDescriptor, createManifest } from '../../support/bridge/bridge.js';
import {
  askValues,
  CONFIG,
  configDescriptor,
  configManifest,
  readValues,
  writeValue,
} from '../../support/bridge/config.js';
import { eventually } from '../../support/bridge/eventually.js';
import { useHost } from '../../support/http/use-host.js';
import { type RunningHost, startHost } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';

// Nothing listens there: these tests need no delivery.
const NOWHERE = 'http://127.0.0.1:1';

const FIELDS: readonly ConfigField[] = [
  { service: 'conf', key: 'zeal', type: { kind: 'bool' }, default: true, editable: true },
  {
    service: 'conf',
    key: 'count',
    type: { kind: 'int', min: 1, max: 9 },
    default: 5,
    editable: true,
  },
  { service: 'other', key: 'share', type: { kind: 'float' }, editable: true },
  {
    service: 'conf',
    key: 'color',
    type: { kind: 'enum', values: ['red', 'blue'] },
    default: 'red',
  },
  { service: 'conf', key: 'shape', type: { kind: 'json' }, default: { a: [1, null] } },
  {
    service: 'conf',
    key: 'password',
    type: { kind: 'string' },
    default: 'a default secret',
    editable: true,
    sensitive: true,
  },
  { service: 'conf', key: 'unset', type: { kind: 'string' }, sensitive: true },
  { service: 'conf', key: 'made', type: { kind: 'string' }, generated: { bytes: 16 } },
  {
    service: 'conf',
    key: 'threads',
    type: { kind: 'int' },
    default: 4,
    editable: true,
    restart_only: true,
  },
];

describe('config_values', () => {
  const setup = useHost(() => ({
    'conf.json': configDescriptor(NOWHERE, FIELDS),
    'bare.json': createDescriptor('bare', createManifest('bare', { capabilities: [CONFIG] }), [
      CONFIG,
    ]),
  }));

  it('lists every field in the order of the manifest, secrets without their values', async () => {
    // It is generated for the first delivery.
    const made = await eventually(async () => {
      const revision = (await readValues(setup.host))['made']?.revision;
      expect(revision).to.be.above(0);
      return revision;
    });
    const answer = await askValues(setup.host);
    const describe = (index: number, members: object) => {
      const { service, key, type } = FIELDS[index] as ConfigField;
      const flags = { editable: false, pending_restart: false, redacted: false, revision: 0 };
      return { service, key, ...flags, value_type: type, ...members };
    };
    expect(answer.data).to.deep.equal({
      data: [
        describe(0, { desired_value: true, editable: true }),
        describe(1, { desired_value: 5, editable: true }),
        describe(2, { desired_value: null, editable: true }),
        describe(3, { desired_value: 'red' }),
        describe(4, { desired_value: { a: [1, null] } }),
        describe(5, { desired_value: null, editable: true, redacted: true }),
        describe(6, { desired_value: null, redacted: true }),
        describe(7, { desired_value: null, redacted: true, revision: made }),
        describe(8, { desired_value: 4, editable: true }),
      ],
    });
  });

  it('shows written values, but never a secret', async () => {
    await writeValue(setup.host, 'count', 7);
    await writeValue(setup.host, 'password', 'a written secret');
    const { count, password } = await readValues(setup.host);
    expect(count?.desired_value).to.equal(7);
    expect(password).to.include({ desired_value: null, redacted: true });
    expect((await askValues(setup.host)).text).to.not.include('secret');
  });

  it('reports a pending restart until the value is reset', async () => {
    await writeValue(setup.host, 'threads', 8);
    await writeValue(setup.host, 'zeal', false);
    const written = await readValues(setup.host);
    expect(written['threads']).to.include({ desired_value: 8, pending_restart: true });
    expect(written['zeal']).to.include({ desired_value: false, pending_restart: false });
    await writeValue(setup.host, 'threads', 4);
    expect((await readValues(setup.host))['threads']?.pending_restart).to.equal(false);
  });

  it('is not declared for a permission outside the capabilities of the module', async () => {
    const answer = await askValues(setup.host, 'conf.undeclared');
    expect(answer.status).to.equal(403);
    expect(answer.problem.detail).to.include('declare');
  });

  it('is not declared by a module without config fields', async () => {
    const payload = { operation: 'config_values' };
    const call = { module: 'bare', permission: CONFIG, payload };
    const { status, problem } = await askBridge(setup.host, call);
    expect(status).to.equal(403);
    expect(problem.detail).to.include('declare');
  });
});

describe('config_values after a module change', () => {
  let state: string;
  let host: RunningHost | undefined;
  const start = async (fields: readonly ConfigField[]): Promise<RunningHost> => {
    await host?.stop();
    const files = { 'conf.json': configDescriptor(NOWHERE, fields) };
    host = await startHost({ files, args: ['--state', state] });
    return host;
  };

  beforeEach(() => {
    state = createFolder();
  });
  afterEach(async () => {
    await host?.stop();
    host = undefined;
  });

  it('reports no pending restart after a restart', async () => {
    const first = await start(FIELDS);
    let written = 8;
    await writeValue(first, 'threads', written);
    // A value that is stored before the module reads its values is one that it opens with.
    await eventually(async () => {
      const { threads } = await readValues(first);
      if (threads?.pending_restart === false) {
        written = written === 8 ? 9 : 8;
        await writeValue(first, 'threads', written);
      }
      expect(threads?.pending_restart).to.equal(true);
    });
    const second = await start(FIELDS);
    const { threads } = await readValues(second);
    expect(threads).to.include({ desired_value: written, pending_restart: false });
  });

  it('reports no pending restart after a new version is open', async () => {
    const running = await start(FIELDS);
    await writeValue(running, 'threads', 8);
    running.drop('conf.json', configDescriptor(NOWHERE, FIELDS, { limits: { timeout_ms: 900 } }));
    await eventually(async () => {
      const { threads } = await readValues(running);
      expect(threads).to.include({ desired_value: 8, pending_restart: false });
    });
  });

  it('returns the default if the stored value has become invalid', async () => {
    const running = await start(FIELDS);
    await writeValue(running, 'count', 9);
    const stricter = FIELDS.map((field) =>
      field.key === 'count' ? { ...field, type: { kind: 'int', max: 6 } as const } : field,
    );
    const manifest = { inline: configManifest(stricter) };
    running.drop('conf.json', configDescriptor(NOWHERE, stricter, { manifest }));
    await eventually(async () => {
      expect((await readValues(running))['count']?.desired_value).to.equal(5);
    });
    running.drop('conf.json', configDescriptor(NOWHERE, FIELDS));
    await eventually(async () => {
      expect((await readValues(running))['count']?.desired_value).to.equal(9);
    });
  });
});
