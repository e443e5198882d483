import { expect } from 'chai';
import { HostError } from '../../../core/errors.js';
import { HOST_PATHS } from '../../../core/http/routes/host-route-list.js';
import {
  isHostPrefix,
  isSurfacePrefix,
  parseSurfaceUrl,
} from '../../../core/http/surfaces/surface-path.js';
import { firstSegment } from '../../../core/lib/routing/request-path.js';

const ORIGIN = 'http://localhost:3000';

describe('the paths of surfaces', () => {
  it('are below one segment, byte for byte', () => {
    expect(['/desk', '/desk/', '/desk/a?b', '/desk?a', '/desk#a'].map(firstSegment)).to.deep.equal(
      Array(5).fill('/desk'),
    );
    expect(['/', '', 'desk', '//desk', '/Desk'].map(firstSegment)).to.deep.equal([
      ...['/', '', '', '/', '/Desk'],
    ]);
    expect(['/desk', '/a-1'].every(isSurfacePrefix)).to.equal(true);
    for (const prefix of ['/', 'desk', '/Desk', '/a/b', '/a.b', '/%61', '', 1, null]) {
      expect(isSurfacePrefix(prefix), String(prefix)).to.equal(false);
    }
  });

  it('are parsed only where a URL parser changes nothing', () => {
    for (const target of ['/desk', '/desk/', '/desk/%2F', "/desk/a;b=(c)!'*", '/desk/a//b?x={y}']) {
      const { pathname } = parseSurfaceUrl(target, ORIGIN);
      expect(pathname).to.equal(target.split('?')[0]);
    }
    const rewritten = [
      '/desk/..',
      '/desk/.',
      '/desk/%2e',
      '/desk/%2E%2e/x',
      '/desk\\x',
      '/desk/{a}',
    ];
    for (const target of [
      ...rewritten,
      '/desk/ü',
      '/desk/"',
      '/desk#x',
      '//desk',
      'http://a/desk',
    ]) {
      expect(() => parseSurfaceUrl(target, ORIGIN), target).to.throw(HostError);
    }
  });

  it('leave every route of the host to the host', () => {
    for (const path of HOST_PATHS) expect(isHostPrefix(path), path).to.equal(true);
    expect(isHostPrefix('/.well-known/oauth-protected-resource')).to.equal(true);
    expect(isHostPrefix('/console')).to.equal(false);
  });
});
