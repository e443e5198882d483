import { expect } from 'chai';
import { headerValue } from '../../../../core/selftest/raw-http.js';
import { a, useNames } from '../../../support/dns/use-names.js';
import { call } from '../../../support/http/call.js';
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

  it('that join or leave decide which references lead to the module', async () => {
    const { names } = context;
    names.host.drop(FILE, [url('127.0.0.2')]);
    await names.open({ file: `./${FILE}` }, { more: { responses: { mode: 'raw' } } });
    await names.waitForAddresses('127.0.0.2');
    const locate = async () => {
      const target = `/modules/crm/http/x?host=127.0.0.3:${names.places.port}`;
      return headerValue((await call(names.host, { target })).headers, 'location');
    };
    const elsewhere = `${url('127.0.0.3')}/api/things/1`;
    expect(await locate()).to.equal(elsewhere);
    names.host.drop(FILE, [url('127.0.0.2'), url('127.0.0.3')]);
    await names.waitForAddresses('127.0.0.2', '127.0.0.3');
    expect(await locate()).to.equal('/modules/crm/http/api/things/1');
    names.host.drop(FILE, [url('127.0.0.2')]);
    await names.waitForAddresses('127.0.0.2');
    expect(await locate()).to.equal(elsewhere);
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
