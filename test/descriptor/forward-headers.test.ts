import { expect } from 'chai';
import {
  explainDeniedHeader,
  isAlwaysForwarded,
} from '../../core/descriptor/sections/forward-headers.js';

// Headers that the host never forwards, and the hop-by-hop headers of RFC 9110.
const DENIED = [
  'authorization',
  'cookie',
  'host',
  'content-type',
  'content-length',
  'content-anything',
  'transfer-encoding',
  'connection',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'range',
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'modgate-actor',
  'modgate-anything',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
];

const SET_BY_HOST = [
  'accept-encoding',
  'x-request-id',
  'x-correlation-id',
  'traceparent',
  'tracestate',
];

function spell(name: string): string[] {
  return [name, name.toUpperCase(), name.replaceAll('-', '_'), name.replace('-', '_')];
}

describe('explainDeniedHeader', () => {
  for (const name of DENIED) {
    it(`denies ${name} in every spelling`, () => {
      for (const spelling of spell(name)) expect(explainDeniedHeader(spelling)).to.be.a('string');
    });
  }

  for (const name of SET_BY_HOST) {
    it(`says that the host sets ${name} itself`, () => {
      for (const spelling of spell(name)) {
        expect(explainDeniedHeader(spelling)).to.equal('the host sets this header itself');
      }
    });
  }

  for (const name of [
    'x-tenant',
    'accept',
    'accept-language',
    'x-forward',
    'ranges',
    'x-content-type',
    'via',
  ]) {
    it(`allows ${name}`, () => {
      expect(explainDeniedHeader(name)).to.equal(null);
    });
  }

  it('lists the headers that are always forwarded', () => {
    expect(['If-Match', 'prefer', 'x-tenant'].map(isAlwaysForwarded)).to.deep.equal([
      true,
      true,
      false,
    ]);
  });
});
