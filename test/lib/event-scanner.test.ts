import { expect } from 'chai';
import { EventScanner } from '../../core/lib/event-scanner.js';

/** Splits the text into parts of this size. */
function split(end: 'blank-line' | 'line', text: string, size: number) {
  const scanner = new EventScanner(end, 1000);
  const bytes = Buffer.from(text);
  const units: string[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    for (const unit of scanner.push(bytes.subarray(at, at + size))) units.push(unit.toString());
  }
  return { units, rest: scanner.rest().toString() };
}

describe('EventScanner', () => {
  for (const [name, end, text, units] of [
    ['events that end with line feeds', 'blank-line', 'a\nb\n\nc\n\nrest\n', ['a\nb\n\n', 'c\n\n']],
    [
      'events that end with both',
      'blank-line',
      'a\r\nb\r\n\r\nc\r\n\r\nrest',
      ['a\r\nb\r\n\r\n', 'c\r\n\r\n'],
    ],
    [
      'events that end with carriage returns',
      'blank-line',
      'a\rb\r\rc\r\rrest',
      ['a\rb\r\r', 'c\r\r'],
    ],
    ['mixed ends', 'blank-line', 'a\n\rb\r\n\nc\r\r\nrest', ['a\n\r', 'b\r\n\n', 'c\r\r\n']],
    ['lines', 'line', 'a\n\nb\r\nrest', ['a\n', '\n', 'b\r\n']],
  ] as const) {
    it(`finds ${name}, however the stream is cut`, () => {
      const whole = split(end, text, text.length);
      expect(whole.units).to.deep.equal(units);
      for (const size of [1, 2, 3, 5]) {
        const parts = split(end, text, size);
        expect([...parts.units, parts.rest].join('')).to.equal(text);
        // The second half of a line end may come with the next event.
        const strip = (event: string) => event.replace(/^\n/, '').replace(/\r\n$/, '\r');
        expect(parts.units.map(strip)).to.deep.equal(units.map(strip));
      }
    });
  }

  it('reports a unit that is too long, complete or not, and passes those before it', () => {
    for (const text of ['a\n\nbbbbbb\n\n', 'a\n\nbbbbbbb']) {
      const scanner = new EventScanner('blank-line', 6);
      expect(scanner.push(Buffer.from(text)).map(String)).to.deep.equal(['a\n\n']);
      expect(scanner.isTooLong).to.equal(true);
    }
  });

  it('measures without keeping anything', () => {
    const scanner = new EventScanner('line', 6);
    scanner.measure(Buffer.from('12345\n1234'));
    expect(scanner.isTooLong).to.equal(false);
    scanner.measure(Buffer.from('567\n'));
    expect(scanner.isTooLong).to.equal(true);
  });
});
