import { expect } from 'chai';
import { Exchange } from '../../../plugins/mcp-client/exchange.js';

const PING = { message: { id: 1, method: 'ping' }, text: '' };

describe('requests of an MCP server', () => {
  const { now } = performance;
  afterEach(() => {
    performance.now = now;
  });

  it('are counted for a minute', () => {
    const exchange = new Exchange({ maxResponseBytes: 1_000 });
    for (const minute of [1, 2, 3]) {
      performance.now = () => minute * 60_000;
      for (let count = 0; count < 100; count += 1) expect(exchange.accept(PING)).to.not.equal(null);
    }
    expect(exchange.failure).to.equal(null);
    expect(exchange.accept(PING)).to.equal(null);
    expect(exchange.failure?.failure).to.equal('protocol');
  });
});
