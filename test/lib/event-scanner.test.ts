import { expect } from 'chai';
import { EventScanner, type UnitEnd } from '../../core/lib/event-scanner.js';

/** Splits the text, which arrives in parts of this size, into its units and an incomplete one. */
function split(unitEnd: UnitEnd, text: string, size: number, maxUnits: number) {
  const scanner = new EventScanner(unitEnd);
  let count = 0;
  let held = '';
  const units: string[] = [];
  for (let at = 0; at < text.length; at += size) {
    for (let part = text.slice(at, at + size); part !== ''; ) {
      const { units: ended, end, next } = scanner.scan(Buffer.from(part), maxUnits);
      count += ended;
      expect(ended).to.be.at.most(maxUnits);
      if (end > 0) units.push(held + part.slice(0, end));
      held = (end > 0 ? '' : held) + part.slice(end, next);
      part = part.slice(next);
    }
  }
  return { units, held, count };
}

/** Where the units end: the last half of a line end may come with the next unit. */
function offsetsOf(units: readonly string[]): number[] {
  return units.map((unit, index) => {
    const text = units.slice(0, index).join('') + unit;
    return text.replace(/\r\n$/, '\r').length;
  });
}

describe('EventScanner', () => {
  for (const [name, unitEnd, text, units] of [
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
    ['blank lines', 'blank-line', '\n\r\n\r\r\n\nrest', ['\n', '\r\n', '\r', '\r\n', '\n']],
    ['lines', 'line', 'a\n\nb\r\nrest', ['a\n', '\n', 'b\r\n']],
  ] as const) {
    it(`finds ${name}, however the stream is cut`, () => {
      for (const size of [1, 2, 3, 5, text.length]) {
        const parts = split(unitEnd, text, size, 1);
        expect(parts.count, `parts of ${size}`).to.equal(units.length);
        expect([...parts.units, parts.held].join('')).to.equal(text);
        expect(offsetsOf(parts.units)).to.include.members(offsetsOf(units));
        expect(split(unitEnd, text, size, 100)).to.include({ count: units.length });
      }
    });
  }

  it('reports a unit that is too long, complete or not, after those before it', () => {
    for (const text of ['a\n\nbbbbbb\n\n', 'a\n\nbbbbbbb']) {
      const scanner = new EventScanner('blank-line', 6);
      expect(scanner.scan(Buffer.from(text))).to.include({ units: 1, end: 3 });
      expect(scanner.isTooLong).to.equal(true);
    }
  });

  it('measures the longest unit alike in any parts', () => {
    for (const text of ['12345\n', '123456\r\r', '1\r\n23\r\n\r\n']) {
      const unitEnd = text.includes('\r') ? 'blank-line' : 'line';
      // The last half of a line end does not count, because it may arrive later.
      const length = text.replace(/\r\n$/, '\r').length;
      for (const size of [1, 2, text.length]) {
        for (const isTooLong of [true, false]) {
          const scanner = new EventScanner(unitEnd, isTooLong ? length - 1 : length);
          for (let at = 0; at < text.length && !scanner.isTooLong; at += size) {
            scanner.scan(Buffer.from(text.slice(at, at + size)));
          }
          expect(scanner.isTooLong).to.equal(isTooLong);
        }
      }
    }
  });
});
