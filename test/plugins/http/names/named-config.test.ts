import { expect } from 'chai';
import { validateStruct } from '../../../../core/document/validate.js';
import { httpConfig } from '../../../../plugins/http/config.js';

const mistakesOf = (config: object) =>
  validateStruct(config, httpConfig).violations.map(({ message }) => message);
const ofEndpoint = (endpoint: unknown) => mistakesOf({ endpoints: [endpoint] });
const ofResolver = (resolver: unknown) => mistakesOf({ endpoints: ['http://a'], resolver });

describe('config of endpoints by name', () => {
  for (const endpoint of [
    { dns: 'crm.internal', port: 4100 },
    { dns: 'crm', port: 1, scheme: 'https', path: '/api/v1' },
    { srv: '_http._tcp.crm.service.consul' },
    { srv: '_crm._tcp.service.consul', scheme: 'http', path: '/api/' },
  ]) {
    it(`accepts ${JSON.stringify(endpoint)}`, () => {
      expect(ofEndpoint(endpoint)).to.deep.equal([]);
    });
  }

  for (const [endpoint, message] of [
    [{ dns: 'crm.internal' }, /missing key 'endpoints\[0\].port'|missing/],
    [{ dns: 'crm.internal', port: 0 }, /port.*integer between 1 and 65535/],
    [{ dns: '10.0.0.1', port: 80 }, /dns.*DNS name, not an address/],
    [{ dns: '0x7f.1', port: 80 }, /dns.*DNS name, not an address/],
    [{ dns: 'a b', port: 80 }, /dns.*DNS name/],
    [{ dns: `${'a.'.repeat(127)}com`, port: 80 }, /dns.*DNS name/],
    [{ dns: 'a', port: 80, scheme: 'ftp' }, /scheme/],
    [{ dns: 'a', port: 80, path: 'api' }, /path.*path that starts with a slash/],
    [{ dns: 'a', port: 80, path: '/a/../b' }, /path.*dot segment/],
    [{ dns: 'a', port: 80, path: '/a?b' }, /path.*without query/],
    [{ srv: 'crm.service.consul' }, /srv.*_http\._tcp\.crm\.internal/],
    [{ srv: '_http.crm.internal' }, /srv.*name of SRV records/],
    [{ srv: '_http._tcp.crm', port: 80 }, /unknown key/],
    [{ dsn: 'crm.internal', port: 80 }, /unknown key/],
  ] as const) {
    it(`rejects ${JSON.stringify(endpoint).slice(0, 70)}`, () => {
      expect(ofEndpoint(endpoint).join('\n')).to.match(message);
    });
  }

  it('rejects an entry twice, and more than 64', () => {
    const entry = { dns: 'crm', port: 80 };
    expect(mistakesOf({ endpoints: [entry, { ...entry, scheme: 'http' }] }).join()).to.match(
      /a list of endpoints that differ/,
    );
    const many = Array.from({ length: 65 }, (_, index) => ({ ...entry, port: index + 1 }));
    expect(mistakesOf({ endpoints: many }).join()).to.match(/64/);
  });

  it('requires https with tls', () => {
    const config = { endpoints: [{ dns: 'crm', port: 80 }], tls: {} };
    expect(mistakesOf(config).join()).to.match(/tls only if all endpoints are https/);
  });

  for (const [resolver, message] of [
    [{ servers: ['dns.internal'] }, /IP address of a DNS server/],
    [{ servers: ['10.0.0.1:99999'] }, /IP address of a DNS server/],
    [{ servers: [] }, /servers/],
    [{ refresh_ms: 1 }, /refresh_ms.*between 100/],
    [{ stale_ms: -1 }, /stale_ms/],
    [{ allow_local: 'yes' }, /allow_local/],
    [{ server: '10.0.0.1' }, /unknown key/],
  ] as const) {
    it(`rejects the resolver ${JSON.stringify(resolver)}`, () => {
      expect(ofResolver(resolver).join('\n')).to.match(message);
    });
  }

  it('accepts servers of both families, with and without a port', () => {
    const servers = ['10.0.0.2', '127.0.0.1:8600', '2001:db8::53', '[2001:db8::53]:53'];
    expect(ofResolver({ servers })).to.deep.equal([]);
  });
});
