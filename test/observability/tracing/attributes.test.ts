import { expect } from 'chai';
import {
  describeServer,
  nameMethod,
  readAuthority,
} from '../../../core/observability/tracing/request-span.js';

describe('span attributes', () => {
  it('name the server of an endpoint that is a URL, with the port of its scheme', () => {
    const of = (endpoint: string) => {
      const { 'server.address': address, 'server.port': port } = describeServer(endpoint);
      return [address, port];
    };
    expect(of('http://a.internal:4100/base')).to.deep.equal(['a.internal', 4100]);
    expect(of('http://a.internal')).to.deep.equal(['a.internal', 80]);
    expect(of('https://a.internal')).to.deep.equal(['a.internal', 443]);
    expect(of('http://[::1]:1')).to.deep.equal(['::1', 1]);
    for (const none of ['local', '/run/crm.sock', 'nats://a:1', '']) {
      expect(of(none), none).to.deep.equal([undefined, undefined]);
    }
    expect(describeServer('local')).to.deep.equal({ 'modgate.endpoint': 'local' });
  });

  it('name the requested authority', () => {
    const serverAttributes = { 'server.address': 'gate.internal', 'server.port': 443 };
    expect(readAuthority('https', 'gate.internal')).to.deep.equal(serverAttributes);
    expect(readAuthority('http', 'gate.internal')).to.include({ 'server.port': 80 });
    expect(readAuthority('http', '[::1]:3000')).to.deep.equal({
      'server.address': '::1',
      'server.port': 3000,
    });
    for (const none of [undefined, 'a b', ':', 'a:99999']) {
      expect(readAuthority('http', none), none).to.deep.equal({});
    }
  });

  it('name nine methods and report others as _OTHER', () => {
    expect(nameMethod('PATCH').name).to.equal('PATCH');
    expect(nameMethod('get').attributes).to.deep.equal({
      'http.request.method': '_OTHER',
      'http.request.method_original': 'get',
    });
  });
});
