import { expect } from 'chai';
import { formatLine } from '../../core/log/format-line.js';

const LONG = 'a'.repeat(200_000);

describe('a log line', () => {
  it('keeps its short fields when it would be too long', () => {
    const text = formatLine('info', { module: 'crm' }, { count: 1, body: LONG }, 'hello');
    const line = JSON.parse(text) as Record<string, unknown>;
    expect(line).to.include({ level: 'info', module: 'crm', count: 1, msg: 'hello' });
    expect(line).not.to.have.property('body');
    expect(line['shortened_from']).to.be.above(200_000);
  });

  it('is short, whatever its message and the number of its fields', () => {
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`f${index}`, 1]));
    for (const text of [formatLine('warn', {}, {}, LONG), formatLine('warn', {}, many, 'many')]) {
      expect(text.length).to.be.below(65_536);
      expect(JSON.parse(text)).to.include({ level: 'warn' });
    }
  });

  it('stays as it is up to 64 KiB', () => {
    const body = 'a'.repeat(60_000);
    expect(JSON.parse(formatLine('info', {}, { body }, 'hello'))).to.include({ body });
  });
});
