import { expect } from 'chai';
import { useHost } from '../support/http/use-host.js';
import { waitUntil } from '../support/http/wait-until.js';

const UNREACHABLE = 'postgres://user:hunter2@127.0.0.1:1/none';

describe('a host with a database server that cannot be used', () => {
  const setup = useHost(() => ({}), { args: ['--store', UNREACHABLE] });

  it('logs the reason at the start, before any operation needs the store', async () => {
    const message = 'store unavailable: config operations respond with 503';
    const find = () => setup.host.logs().find(({ msg }) => msg === message);
    await waitUntil('the line', () => find() !== undefined, 10_000);
    expect(find()).to.include({ level: 'warn', code: 'unreachable' });
    expect(setup.host.output()).to.not.include('hunter2');
  });
});
