import { expect } from 'chai';
import { Dnsmasq } from '../../../support/dns/dnsmasq.js';
import { useNames } from '../../../support/dns/use-names.js';
import { waitUntil } from '../../../support/http/wait-until.js';

const SERVICE = '_http._tcp.crm.internal';

describe('endpoints by name, of dnsmasq', () => {
  const context = useNames();
  let dnsmasq: Dnsmasq | undefined;

  afterEach(() => dnsmasq?.stop());

  it('follows SRV records while the server is restarted', async function () {
    const { names } = context;
    const { port } = names.places;
    const srv = (target: string, weight = 1) => `srv-host=${SERVICE},${target},${port},1,${weight}`;
    const hosts = ['host-record=n1.internal,127.0.0.2', 'host-record=n2.internal,127.0.0.3'];
    dnsmasq = await Dnsmasq.start(this, [...hosts, srv('n1.internal'), srv('n2.internal', 0)]);
    const resolver = { servers: [dnsmasq.address] };
    await names.open([{ srv: SERVICE }], { resolver });
    await names.waitForAddresses('127.0.0.2', '127.0.0.3');
    expect((await names.at()).host).to.equal(`crm.internal:${port}`);
    await dnsmasq.serve(['host-record=n2.internal,127.0.0.4', srv('n2.internal')]);
    await names.waitForAddresses('127.0.0.4');
    expect((await names.at()).at).to.equal('127.0.0.4');
  });

  it('follows A records, and a name that was removed', async function () {
    const { names } = context;
    const endpoint = { dns: 'crm.internal', port: names.places.port };
    const addresses = ['127.0.0.2', '127.0.0.3'];
    dnsmasq = await Dnsmasq.start(
      this,
      addresses.map((address) => `host-record=crm.internal,${address}`),
    );
    const resolver = { servers: [dnsmasq.address] };
    await names.open([endpoint], { resolver });
    await names.waitForAddresses(...addresses);
    await dnsmasq.serve([]);
    await names.waitForAddresses();
    await waitUntil('the reason is shown', async () => {
      return (await names.shown()).resolve_error === 'DNS ENOTFOUND crm.internal';
    });
    expect((await names.get()).status).to.equal(502);
  });
});
