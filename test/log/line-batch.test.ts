import { expect } from 'chai';
import { LineBatch } from '../../core/log/line-batch.js';

function record(): { batch: LineBatch; texts: string[]; written: Promise<void> } {
  const texts: string[] = [];
  let resolve = () => {};
  const written = new Promise<void>((done) => {
    resolve = done;
  });
  const batch = new LineBatch((text) => {
    texts.push(text);
    resolve();
  });
  return { batch, texts, written };
}

describe('a batch of log lines', () => {
  it('leaves by itself, all lines in one text', async () => {
    const { batch, texts, written } = record();
    batch.add('a\n');
    batch.add('b\n');
    expect(texts).to.deep.equal([]);
    // The timer of a batch does not keep a process.
    const keep = setInterval(() => {}, 1000);
    await written.finally(() => clearInterval(keep));
    expect(texts).to.deep.equal(['a\nb\n']);
  });

  it('leaves at once when it is long', () => {
    const { batch, texts } = record();
    const line = `${'x'.repeat(40_000)}\n`;
    batch.add(line);
    batch.add(line);
    expect(texts).to.deep.equal([line + line]);
  });

  it('leaves when it is told to, once', () => {
    const { batch, texts } = record();
    batch.flush();
    batch.add('a\n');
    batch.flush();
    batch.flush();
    expect(texts).to.deep.equal(['a\n']);
  });
});
