import { expect } from 'chai';
import { a, useNames } from '../../../support/dns/use-names.js';
import { waitUntil } from '../../../support/http/wait-until.js';

const FILE = 'crm/endpoints.json';
const NAME = 'crm.internal';

describe('endpoints in a file', () => {
  const context = useNames();
  const url = (address: string) => `http://${address}:${context.names.places.port}`;
  const lines = (message: string) =>
    context.names.host.logs().filter(({ msg }) => msg === message).length;

  it('are followed without a reload of the module, and a bad file keeps the last good list', async () => {
    const { names } = context;
    names.serve({ [NAME]: a('127.0.0.4') });
    names.host.drop(FILE, [url('127.0.0.2')]);
    await names.open({ file: `./${FILE}` });
    await names.waitForAddresses('127.0.0.2');
    await names.at();
    names.host.drop(FILE, [url('127.0.0.2'), { url: url('127.0.0.3'), weight: 2 }]);
    await names.waitForAddresses('127.0.0.2', '127.0.0.3');
    expect((await names.shown()).endpoints[0]).to.include({ calls: 1 });
    for (const broken of ['', '[]', '{', '["http://a?b"]']) {
      const before = lines('followed file is invalid; keeping the last good content');
      names.host.drop(FILE, broken);
      await waitUntil('the file is rejected', () => {
        return lines('followed file is invalid; keeping the last good content') > before;
      });
      expect(await names.addresses()).to.have.length(2);
    }
    names.host.drop(FILE, [{ dns: NAME, port: names.places.port }]);
    await names.waitForAddresses('127.0.0.4');
    expect((await names.at()).at).to.equal('127.0.0.4');
    expect(lines('module changed')).to.equal(1);
  });

  it('reject the module while the file is missing at the start, and serve once it exists', async () => {
    const { names } = context;
    names.host.remove('crm.json');
    names.host.remove(FILE);
    await waitUntil('the module is gone', async () => (await names.shown()).state === 'absent');
    names.host.drop('crm.json', names.describe({ file: `./${FILE}` }));
    await waitUntil('the module is rejected', async () => {
      const { state, reason } = await names.shown();
      return state === 'refused' && reason?.includes('crm/endpoints.json') === true;
    });
    names.host.drop(FILE, [url('127.0.0.2')]);
    await names.waitForAddresses('127.0.0.2');
  });
});
