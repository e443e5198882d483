import { expect } from 'chai';
import fc from 'fast-check';
import { parseTarget } from '../../../core/http/request/target.js';

const FORBIDDEN_IN_SEGMENT =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
  /[/\\?#\u0000-\u001f\u007f-\u009f]|%[0-9A-Fa-f]{2}/;

/** However often a server decodes it, and whether or not it splits it, it gets to no other place. */
function expectHarmless(segment: string): void {
  const again = segment.replaceAll(/%([0-9A-Fa-f]{2})/g, (_text, digits) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  for (const text of [segment, again]) {
    expect(text.split('/').some((part) => /^\.{1,2}(?:;|$)/.test(part))).to.equal(false);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
    expect(text).not.to.match(/[\\\u0000-\u001f\u007f]/);
  }
}

describe('parseTarget', () => {
  it('forwards the raw path and query and decodes for matching only', () => {
    expect(parseTarget('/modules/acme%2Fcrm/http/a%20b/c;d?q=%2e#'.slice(0, -1))).to.deep.equal({
      kind: 'module',
      module: 'acme/crm',
      forwardTarget: '/a%20b/c;d?q=%2e',
      segments: ['a b', 'c;d'],
      encoded: [],
      providerPath: '/a b/c;d',
      mount: null,
    });
  });

  it('parses the root with and without a slash', () => {
    for (const [target, forwardTarget] of [
      ['/modules/crm/http', '/'],
      ['/modules/crm/http/', '/'],
      ['/modules/crm/http?x=1', '/?x=1'],
      ['/modules/crm/http/?x=1', '/?x=1'],
    ]) {
      expect(parseTarget(target ?? ''), target).to.deep.equal({
        kind: 'module',
        module: 'crm',
        forwardTarget,
        segments: [],
        encoded: [],
        providerPath: '/',
        mount: null,
      });
    }
    expect(parseTarget('/modules/crm/http//').kind).to.equal('unmatched');
    expect(parseTarget('/modules/crm/httpx').kind).to.equal('host');
  });

  it('names the segments that only parameters for any character take', () => {
    const parsed = parseTarget('/modules/mq/http/api/queues/%2F/a%3Fb%23c/100%25/%252541/');
    expect(parsed).to.deep.include({
      kind: 'module',
      forwardTarget: '/api/queues/%2F/a%3Fb%23c/100%25/%252541/',
      segments: ['api', 'queues', '/', 'a?b#c', '100%', '%2541', ''],
      encoded: [2, 3, 5],
    });
  });

  it('matches no path whose encoded characters lead elsewhere when decoded again', () => {
    const paths = ['a%2F..%2Fb', '%2F%2e%2e', 'a%2F.%3Bx', '%252e%252e', 'a%2F%252e%252e%252Fb'];
    for (const path of [...paths, 'a%5Cb', 'a%255Cb', 'a%2F%00', 'a%250a', 'a%2F%ff']) {
      expect(parseTarget(`/modules/mq/http/x/${path}`).kind, path).to.equal('unmatched');
    }
    for (const path of ['console-bridge/a%2Fb', 'console-bridge/']) {
      expect(parseTarget(`/modules/mq/http/${path}`).kind, path).to.equal('unmatched');
    }
  });

  it('leaves targets of another shape to the host', () => {
    for (const target of [
      '/',
      '/modules',
      '/modules/crm',
      '/MODULES/a/http/b',
      '*',
      '/%6dodules/a/http/b',
      '/modules\\crm\\http\\a',
      'http://x/livez',
    ]) {
      expect(parseTarget(target).kind, target).to.equal('host');
    }
  });

  it('accepts only segments that a URL parser would send unchanged', () => {
    const raw = fc.stringMatching(/^[ -~]{0,30}$/);
    const hostile = fc
      .array(
        fc.constantFrom(
          '%2e',
          '.',
          '..',
          '/',
          '%2f',
          '%5c',
          '\\',
          ';',
          '%',
          '%25',
          '2f',
          '%00',
          'a',
          '%c3%a9',
          '%ff',
          '|',
          '"',
          '%7f',
          '@',
          ':',
          '//',
        ),
        { maxLength: 10 },
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(raw, hostile), (path) => {
        const verdict = parseTarget(`/modules/crm/http/${path}`);
        if (verdict.kind !== 'module') return;
        const base = 'http://provider.test/base';
        const url = new URL(base + verdict.forwardTarget);
        const [sentPath] = verdict.forwardTarget.split('?');
        expect(url.pathname).to.equal(`/base${sentPath}`);
        expect(verdict.segments).to.deep.equal(
          sentPath === '/' ? [] : sentPath?.slice(1).split('/').map(decodeURIComponent),
        );
        for (const [index, segment] of verdict.segments.entries()) {
          const isEncoded = verdict.encoded.includes(index);
          expect(FORBIDDEN_IN_SEGMENT.test(segment), segment).to.equal(isEncoded);
          if (isEncoded) expectHarmless(segment);
          if (segment === '')
            expect(index)
              .to.equal(verdict.segments.length - 1)
              .and.above(0);
        }
        expect(verdict.providerPath).to.equal(`/${verdict.segments.join('/')}`);
      }),
      { numRuns: 5000 },
    );
  });

  it('returns a canonical path unchanged after encoding and parsing it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1, unit: 'grapheme' }), { minLength: 1 }),
        (parts) => {
          const path = parts.map(encodeURIComponent).join('/');
          const verdict = parseTarget(`/modules/crm/http/${path}`);
          if (verdict.kind !== 'module') return;
          expect(verdict.segments).to.deep.equal(parts);
          const again = parseTarget(
            `/modules/crm/http/${verdict.segments.map(encodeURIComponent).join('/')}`,
          );
          expect(again).to.deep.equal(verdict);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
