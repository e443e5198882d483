import { expect } from 'chai';
import { call } from '../support/http/call.js';
import { describeModule, toRoutes } from '../support/http/modules.js';
import { waitUntil } from '../support/http/wait-until.js';
import { answerJson, startProvider } from '../support/provider.js';
import { startHost } from '../support/start-host.js';
import { useEach } from '../support/use.js';

const ROUTES = toRoutes(['GET /items'], 'use');
const MANY = 100;
describe('modules that change at the same time', () => {
  const provider = useEach(() => startProvider(answerJson({})));
  const host = useEach(
    () => startHost(),
    (running) => running.kill(),
  );

  /** Opens for as long as DNS does not answer: 3 s. */
  const describeSlow = (name: string, overrides: object = {}) => ({
    ...describeModule(name, provider.url, ROUTES, overrides),
    provider: {
      kind: 'http',
      config: {
        endpoints: [{ dns: 'crm.internal', port: 80 }],
        resolver: { servers: ['192.0.2.1'] },
      },
    },
  });
  const describeQuick = (name: string, overrides: object = {}) =>
    describeModule(name, provider.url, ROUTES, overrides);
  const statusOf = async (name: string) =>
    (await call(host, { target: `/modules/${name}/http/items` })).status;
  const serves = (name: string) =>
    waitUntil(`${name} to serve`, async () => (await statusOf(name)) === 200);
  const stateOf = async (file: string) => {
    const list = await call(host, { target: '/modules' });
    const { modules } = JSON.parse(list.body.toString()) as {
      modules: { file: string; state: string; reason: string | null }[];
    };
    return modules.find((entry) => entry.file === file);
  };
  const countChanges = (file: string) =>
    host.logs().filter(({ msg, file: changed }) => msg === 'module changed' && changed === file)
      .length;

  it('serve each when it is open, new and changed ones', async () => {
    host.drop('quick.json', describeQuick('quick'));
    await serves('quick');
    // More than are opened at once.
    const slow = Array.from({ length: 40 }, (_, index) => `slow-${index}`);
    for (const name of slow) host.drop(`${name}.json`, describeSlow(name));
    await waitUntil('slow modules', async () => (await stateOf('slow-0.json')) !== undefined);
    host.drop('late.json', describeQuick('late'));
    host.drop('quick.json', describeQuick('quick', { owner: { name: 'another team' } }));
    await serves('late');
    await waitUntil('the change', () => countChanges('quick.json') === 2);
    expect((await stateOf('slow-39.json'))?.state).to.equal('waiting');
    await waitUntil('the last', async () => (await stateOf('slow-39.json'))?.state === 'live');
  });

  it('end with their file while they are opened', async () => {
    host.drop('slow.json', describeSlow('slow'));
    await waitUntil('it is opened', async () => (await stateOf('slow.json')) !== undefined);
    host.remove('slow.json');
    await waitUntil('its end', async () => (await stateOf('slow.json')) === undefined);
    host.drop('quick.json', describeQuick('slow'));
    await serves('slow');
  });

  it('leave a name to the file that is opened under it', async () => {
    host.drop('m-slow.json', describeSlow('same'));
    await waitUntil('it is opened', async () => (await stateOf('m-slow.json')) !== undefined);
    host.drop('a-quick.json', describeQuick('same'));
    await waitUntil(
      'a rejection',
      async () => (await stateOf('a-quick.json'))?.state === 'refused',
    );
    const { reason } = (await stateOf('a-quick.json')) ?? {};
    expect(reason).to.contain('already configured by m-slow.json');
    await waitUntil('the first', async () => (await stateOf('m-slow.json'))?.state === 'live');
  });

  it('exchange a name at once, and do not hold up others', async () => {
    host.drop('a.json', describeQuick('one'));
    host.drop('b.json', describeQuick('two'));
    await serves('one');
    await serves('two');
    let isDone = false;
    const statuses = new Set<number>();
    const keepCalling = async () => {
      while (!isDone) for (const name of ['one', 'two']) statuses.add(await statusOf(name));
    };
    const calling = keepCalling();
    host.drop('a.json', describeSlow('two'));
    host.drop('b.json', describeQuick('one', { owner: { name: 'exchanged' } }));
    host.drop('other.json', describeQuick('other'));
    await serves('other');
    await waitUntil('both', () => countChanges('a.json') + countChanges('b.json') === 4);
    const changed = host.logs().flatMap(({ msg, file }) => (msg === 'module changed' ? file : []));
    expect(changed.indexOf('other.json')).to.equal(2);
    isDone = true;
    await calling;
    // The slow one has no endpoint.
    expect([...statuses].filter((status) => status !== 502)).to.deep.equal([200]);
  });

  it('serve, however many they are', async () => {
    const names = Array.from({ length: MANY }, (_, index) => `m${index}`);
    for (const name of names) {
      host.drop(`${name}.json`, describeQuick(name));
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const name of names) await serves(name);
  });
});
