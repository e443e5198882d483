import { expect } from 'chai';
import { mcpConfig, mcpOperation } from '../../../plugins/mcp-client/config.js';

const DIGEST = `sha256:${'0'.repeat(64)}`;

const isValid = (config: unknown) => mcpConfig.validate(config, { coerce: true })[0] === undefined;

describe('the config of kind mcp', () => {
  const VALID: readonly object[] = [
    { url: 'https://a.example/mcp' },
    { url: 'https://a.example/mcp', tls: { ca: './ca.pem' }, auth: { bearer: 'env:TOKEN' } },
    { url: 'http://127.0.0.1:3000/mcp', pin: 'report', sessions: 'actor' },
    { command: ['node', 'server.js'], cwd: './a', env: { A: 'b' }, start_timeout_ms: 600_000 },
  ];
  for (const config of VALID) {
    it(`accepts ${JSON.stringify(config)}`, () => {
      expect(isValid(config)).to.equal(true);
    });
  }

  const INVALID: readonly object[] = [
    {},
    { url: 'https://a.example/mcp', command: ['node'] },
    { url: 'https://user:pass@a.example/mcp' },
    { url: 'https://a.example/mcp?token=a' },
    { url: 'https://a.example/mcp', cwd: '.' },
    { url: 'https://a.example/mcp', env: {} },
    { url: 'http://a.example/mcp', tls: {} },
    { url: 'https://a.example/mcp', auth: { bearer: 'a-token' } },
    { command: [] },
    { command: ['node'], auth: { bearer: 'env:A' } },
    { command: ['node'], tls: {} },
    { command: ['node'], env: { MODGATE_MODULE: 'a' } },
    { url: 'https://a.example/mcp', pin: 'off' },
    { url: 'https://a.example/mcp', start_timeout_ms: 99 },
    { url: 'https://a.example/mcp', other: 1 },
    {
      url: 'https://a.example/mcp',
      auth: {
        exchange: { issuer: 'https://i.example', client_id: 'a', client_secret: 'env:A' },
      },
    },
  ];
  for (const config of INVALID) {
    it(`rejects ${JSON.stringify(config)}`, () => {
      expect(isValid(config)).to.equal(false);
    });
  }

  it('accepts an exchange of tokens for sessions of actors', () => {
    const exchange = { issuer: 'https://i.example', client_id: 'a', client_secret: 'env:A' };
    expect(
      isValid({ url: 'https://a.example/mcp', sessions: 'actor', auth: { exchange } }),
    ).to.equal(true);
  });

  it('has operations with a tool, and perhaps its digest', () => {
    const isOperation = (value: unknown) => mcpOperation.validate(value)[0] === undefined;
    expect(
      [undefined, { tool: 'a' }, { tool: 'a', digest: DIGEST }].map(isOperation),
    ).to.deep.equal([true, true, true]);
    const wrong = [{}, { tool: '' }, { digest: DIGEST }, { tool: 'a', digest: 'sha256:0' }, 'a'];
    expect(wrong.map(isOperation)).to.deep.equal(wrong.map(() => false));
  });
});
