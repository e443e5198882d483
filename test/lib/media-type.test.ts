import { expect } from 'chai';
import fc from 'fast-check';
import {
  isJsonMediaType,
  isListedType,
  isPageType,
  namesMediaType,
  readMediaType,
} from '../../core/lib/media-type.js';

const TOKEN_CHARACTERS = "!#$%&'*+.^_`|~0123456789ABCXYZabcxyz-";
const text = (characters: string, minLength = 0) =>
  fc
    .array(fc.constantFrom(...characters), { minLength, maxLength: 8 })
    .map((list) => list.join(''));
const token = text(TOKEN_CHARACTERS, 1);
const blanks = text(' \t');
const quoted = fc
  .array(
    fc.oneof(
      fc.constantFrom('\t', ' ', '!', ',', ';', '/', '=', '[', '~', '\u00e9', '\u00ff'),
      fc.constantFrom('\\"', '\\\\', '\\a', '\\ '),
    ),
  )
  .map((parts) => `"${parts.join('')}"`);
const unquoted = text(`${TOKEN_CHARACTERS}()<>@:/[]?={}\u00e9\u00ff`, 1);
const parameter = fc.tuple(token, fc.oneof(token, unquoted, quoted)).map((pair) => pair.join('='));
const parameters = fc
  .array(fc.tuple(blanks, blanks, fc.option(parameter, { nil: '' })))
  .map((list) => list.map(([before, after, value]) => `${before};${after}${value}`).join(''));
const essence = fc.tuple(token, token).map((pair) => pair.join('/'));

describe('media types', () => {
  it('are read with any parameters, also empty ones', () => {
    fc.assert(
      fc.property(essence, parameters, blanks, (type, rest, end) => {
        expect(readMediaType(`${type}${rest}${end}`)).to.equal(type.toLowerCase());
      }),
    );
  });

  for (const type of [
    'multipart/form-data; boundary=----=_Part_0_1.2',
    'multipart/form-data; boundary===============5374==',
    'multipart/form-data; boundary=j.GjQoq-ee/1EB4l:x?(1)',
    'multipart/related; boundary=------abc; type=application/json',
    'multipart/related; start=<root@example.com>; boundary=a',
    'application/ld+json;profile=https://www.w3.org/ns/activitystreams',
    'application/pdf; name=r\u00e9sum\u00e9.pdf',
  ]) {
    it(`are read without the quotes that ${type} should have`, () => {
      const [name = ''] = type.split(';');
      expect(readMediaType(type)).to.equal(name);
      expect(readMediaType(`${type}, text/html`)).to.equal(null);
      expect(readMediaType(`${type};, text/html`)).to.equal(null);
      expect(readMediaType(`${type} text/html`)).to.equal(null);
    });
  }

  it('are not read out of a list', () => {
    fc.assert(
      fc.property(essence, parameters, essence, blanks, (type, rest, other, blank) => {
        expect(readMediaType(`${type}${rest}${blank},${other}`)).to.equal(null);
        expect(readMediaType(`${type}${rest};${blank},${blank}${other}`)).to.equal(null);
      }),
    );
  });

  it('are read in a time that grows with their length alone', () => {
    for (const part of [' ', ';', '; ', ' ;\t', ';a=b', '; a="b"', ';a="', '"', '/', 'a', '\\"']) {
      const long = `a/b${part.repeat(200_000 / part.length)}`;
      expect(readMediaType(`${long}\0`), part).to.equal(null);
      expect(namesMediaType(`${long}\0`, 'a/b'), part).to.equal(false);
    }
  });

  for (const other of [
    '',
    'text',
    'text/',
    '/html',
    'text/html/x',
    'text/html text/css',
    'text/html, text/css',
    'text/html;, text/css',
    'text/html; charset',
    'text/html; charset=',
    'text/html; charset = utf-8',
    'text/html; charset="utf-8',
    'text/html; charset="a"b',
    'text/html; charset=a"b"',
    'text/html; charset=a\\b',
    'text/html; charset=a,b',
    'text/html; a="\u0100"',
    'text/html; a="\\\u0001"',
    'text/html\0',
    'te xt/html',
    '"text/html"',
  ]) {
    it(`are not ${JSON.stringify(other)}`, () => {
      expect(readMediaType(other)).to.equal(null);
      expect(isJsonMediaType(other.replace('text/html', 'application/json'))).to.equal(false);
      expect(isListedType(other, ['text/html', 'text/*'])).to.equal(false);
      expect(isListedType(other, ['text/html', '*/*'])).to.equal(true);
    });
  }

  for (const [type, isJson] of [
    ['application/json', true],
    ['Application/JSON ; charset=utf-8;', true],
    ['application/problem+json', true],
    ['application/vnd.a+json; ext="a,b"', true],
    ['application/json;, text/html', false],
    ['application/json, text/html', false],
    ['application/+json', false],
    ['application/jsonp', false],
    ['text/json', false],
  ] as const) {
    it(`${isJson ? 'are' : 'are not'} JSON as ${type}`, () => {
      expect(isJsonMediaType(type)).to.equal(isJson);
    });
  }

  it('may be shown as pages', () => {
    for (const type of [
      ...['text/html', 'TEXT/HTML', 'text/xml', 'application/xml', 'application/xhtml+xml'],
      ...['image/svg+xml', 'image/png', 'image/*', '*/*', 'text/*', 'application/pdf', 'text/pdf'],
      ...['multipart/mixed', 'multipart/x-mixed-replace', 'application/rss+xml', 'text/xsl'],
      ...['application/mathml+xml', 'application/xml-dtd', 'model/x+xml'],
    ]) {
      expect(isPageType(type), type).to.equal(true);
    }
    for (const type of [
      ...['text/event-stream', 'application/x-ndjson', 'application/json', 'text/plain'],
      ...['application/jsonl', 'application/octet-stream', 'application/x-xmlstream', 'text/csv'],
    ]) {
      expect(isPageType(type), type).to.equal(false);
    }
  });

  it('are not named inside quotes of an accept header', () => {
    const named = 'text/event-stream';
    expect(namesMediaType('a/b;c=", text/event-stream, "', named)).to.equal(false);
    expect(namesMediaType('a/b;c="\\", text/event-stream, "', named)).to.equal(false);
    expect(namesMediaType(`a/b;c=",", ${named};d="; q=0"`, named)).to.equal(true);
    expect(namesMediaType(`a/b, ${named} ;d=e; q=0.00`, named)).to.equal(false);
    expect(namesMediaType(`a/b, , ${named} ; q=0.001`, named)).to.equal(true);
  });
});
