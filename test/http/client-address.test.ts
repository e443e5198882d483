import { expect } from 'chai';
import { call } from '../support/http/call.js';
import { describeModule } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';
import { waitUntil } from '../support/http/wait-until.js';
import { startHost } from '../support/start-host.js';

const ROUTES = [{ method: 'GET', path: '/items', capability: 'shop.read' }];
const ITEMS = '/modules/shop/http/items';

describe('the address of the client', () => {
  const files = (provider: { readonly url: string }) => ({
    'shop.json': describeModule('shop', provider.url, ROUTES),
  });
  const trusting = useHost(files, {
    args: [
      '--trusted-proxies',
      '127.0.0.0/8,10.0.0.0/8,2001:db8::/32',
      '--allow-dev-auth-anywhere',
    ],
  });
  const distrusting = useHost(files, {
    args: ['--trusted-proxies', '10.0.0.0/8', '--allow-dev-auth-anywhere'],
  });
  let count = 0;

  async function clientOf(
    { host }: typeof trusting,
    ...lines: readonly string[]
  ): Promise<unknown> {
    count += 1;
    const id = `client-${count}`;
    await call(host, {
      target: ITEMS,
      headers: [['x-request-id', id], ...lines.map((line) => ['x-forwarded-for', line] as const)],
    });
    const find = () => host.logs().find((line) => line['request_id'] === id);
    await waitUntil('the line', () => find() !== undefined);
    const listed = await call(host, { target: `/calls?request_id=${id}` });
    const { calls } = JSON.parse(listed.body.toString()) as { calls: { client: unknown }[] };
    expect(calls[0]?.client).to.equal(find()?.['client']);
    return find()?.['client'];
  }

  it('is that of the connection', async () => {
    expect(await clientOf(trusting)).to.equal('127.0.0.1');
  });

  it('is the right-most entry that is not a trusted proxy', async () => {
    expect(await clientOf(trusting, '192.0.2.1')).to.equal('192.0.2.1');
    expect(await clientOf(trusting, '198.51.100.9, 192.0.2.1')).to.equal('192.0.2.1');
    expect(await clientOf(trusting, '198.51.100.9, 192.0.2.1, 10.1.2.3')).to.equal('192.0.2.1');
  });

  it('is looked for in all lines as in one list', async () => {
    const lines = ['198.51.100.9, 192.0.2.1', '10.1.2.3', '10.1.2.4'];
    expect(await clientOf(trusting, ...lines)).to.equal('192.0.2.1');
  });

  it('is the left-most entry where all are trusted', async () => {
    expect(await clientOf(trusting, '10.1.2.3, 127.0.0.5')).to.equal('10.1.2.3');
  });

  it('is found among the last 32 entries', async () => {
    const proxies = (count: number) => Array.from({ length: count }, (_, n) => `10.0.0.${n}`);
    const after = async (count: number) =>
      clientOf(trusting, ['192.0.2.1', ...proxies(count)].join(', '));
    expect(await after(31)).to.equal('192.0.2.1');
    expect(await after(32)).to.equal('10.0.0.0');
    expect(await after(40)).to.equal('10.0.0.8');
    expect(await clientOf(trusting, ...proxies(40))).to.equal('10.0.0.8');
    expect(await clientOf(trusting, `${','.repeat(4_000)}10.1.2.3`)).to.equal('10.1.2.3');
  });

  it('is the last valid entry before one that is not an address', async () => {
    const entries = [
      'unknown',
      '',
      'fe80::1%eth0',
      '192.0.2.01',
      '_hidden',
      '192.0.2.1:70:5',
      '[::1',
    ];
    for (const entry of entries) {
      expect(await clientOf(trusting, `192.0.2.1, ${entry}, 10.1.2.3`), entry).to.equal('10.1.2.3');
    }
    expect(await clientOf(trusting, '192.0.2.1,')).to.equal('127.0.0.1');
  });

  it('has neither the port nor the brackets of its entry', async () => {
    expect(await clientOf(trusting, '192.0.2.1:5')).to.equal('192.0.2.1');
    expect(await clientOf(trusting, '[2001:DB9::1]:5')).to.equal('2001:db9::1');
    expect(await clientOf(trusting, '[2001:db9::1]')).to.equal('2001:db9::1');
    expect(await clientOf(trusting, '::ffff:192.0.2.1, 2001:db8::7')).to.equal('192.0.2.1');
  });

  it('is never taken from a header of another peer', async () => {
    expect(await clientOf(distrusting, '192.0.2.1')).to.equal('127.0.0.1');
  });

  it('is in the line of a request that cannot be parsed', async () => {
    const { host } = trusting;
    const headers = [['x y', '1']] as const;
    await call(host, { target: ITEMS, headers }).catch(() => {});
    const find = () => host.logs().find(({ msg }) => msg === 'rejected malformed request');
    await waitUntil('the line', () => find() !== undefined);
    expect(find()?.['client']).to.equal('127.0.0.1');
  });

  it('rejects ranges with bits behind their prefix at the start', async () => {
    const start = (ranges: string) =>
      startHost({ files: {}, args: ['--trusted-proxies', ranges] }).then(
        () => 'started',
        (error: unknown) => String(error),
      );
    expect(await start('10.0.0.0/8,10.0.0.1/8')).to.include('write 10.0.0.0/8');
    expect(await start('proxy.internal')).to.include('--trusted-proxies must be');
  });
});
