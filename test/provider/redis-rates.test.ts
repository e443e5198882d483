import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import type { RateLimiters } from '../../core/provider/rate-limiter.js';
import { RedisRates } from '../../core/provider/redis-rates.js';
import { SILENT_LOG } from '../support/provider/fake-module.js';

describe('RedisRates', () => {
  it('names the code of a TLS error', async () => {
    const plain = createServer((socket) => socket.on('error', () => {}).end('-ERR no TLS\r\n'));
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    const { port } = plain.address() as AddressInfo;
    const reasons: unknown[] = [];
    const rates = await RedisRates.open({
      url: `rediss://127.0.0.1:${port}`,
      fleet: null,
      local: {} as RateLimiters,
      log: { ...SILENT_LOG, warn: ({ reason }) => reasons.push(reason) },
    });
    rates.close();
    plain.close();
    expect(reasons).to.have.length(1);
    expect(reasons[0]).to.match(/^(?:EPROTO|ERR_SSL_[A-Z0-9_]+)$/);
  });
});
