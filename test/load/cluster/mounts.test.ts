import { expect } from 'chai';
import { startLoad } from '../../support/cluster/constant-load.js';
import { useWorkers } from '../../support/cluster/use-workers.js';
import { listWorkers, TIMEOUT_MS } from '../../support/cluster/worker-log.js';
import { call, parseJson } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';

const ROUTES = [{ method: 'GET', path: '/items/{id}', capability: 'shop.read' }];
const SHELF = { path: '/shelf' };
const NAMED = { host: 'shelf.test', path: '/' };
const ITEM = '/shelf/items/1';
const MOVES = 6;
/** Connections go to the workers in turn. */
const CONNECTIONS = 4;

describe('mounts of a host with two workers', function () {
  this.timeout(TIMEOUT_MS);
  const setup = useWorkers();

  const write = (name: string, mount: readonly object[]) =>
    describeModule(name, setup.provider.url, ROUTES, { mount });
  const drop = (name: string, mount: readonly object[]) =>
    setup.host.drop(`${name}.json`, write(name, mount));
  const start = () => {
    const files = { 'one.json': write('one', [SHELF, NAMED]), 'two.json': write('two', []) };
    return setup.start({ files });
  };
  /** The modules that answer, by the workers in turn. */
  const listAnswering = async (target = ITEM, host = '127.0.0.1') => {
    const modules = new Set<unknown>();
    for (let count = 0; count < CONNECTIONS; count += 1) {
      const response = await call(setup.host, { target, headers: [['host', host]] });
      expect(response.status, `${response.body}`).to.equal(200);
      modules.add(parseJson(response)['module_name']);
    }
    return [...modules].join();
  };

  const countTaken = (name: string) =>
    setup.host.logs().filter(({ module, reason }) => {
      return module === name && `${reason}`.includes("'/shelf' is already taken");
    }).length;

  it('are those of every worker', async () => {
    await start();
    expect(new Set(listWorkers(setup.host)).size).to.equal(2);
    expect(await listAnswering()).to.equal('one');
    expect(await listAnswering('/items/1', 'shelf.test')).to.equal('one');
    drop('two', [{ path: '/late' }]);
    await waitUntil('the mount in both workers', async () => {
      const responses = Array.from({ length: CONNECTIONS }, () =>
        call(setup.host, { target: '/late/items/1' }),
      );
      return (await Promise.all(responses)).every(({ status }) => status === 200);
    });
    expect(await listAnswering('/late/items/1')).to.equal('two');
  });

  it('move to another module without a failed call', async () => {
    await start();
    const load = startLoad(setup.host, ITEM);
    try {
      let [owner, other] = ['one', 'two'];
      for (let move = 0; move < MOVES; move += 1) {
        const before = load.answered;
        const requestsOfOther = countTaken(other);
        // In one order the new owner has to wait for the file of the old one, in the other both change at once.
        drop(other, [SHELF]);
        if (move % 2 === 0) {
          await waitUntil('the mount is taken', () => countTaken(other) > requestsOfOther);
        }
        drop(owner, []);
        await waitUntil('the move in both workers', async () => (await listAnswering()) === other);
        await waitUntil('further calls', () => load.answered > before);
        [owner, other] = [other, owner];
      }
    } finally {
      await load.stop();
    }
    const { failures, answered } = await load.stop();
    expect(failures).to.deep.equal([]);
    expect(answered).to.be.above(MOVES);
  });
});
