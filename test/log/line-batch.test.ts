import { expect } from 'chai';
import { LineBatch } from '../../core/log/logger.js';

function record(): { batch: LineBatch; texts: string[]; written: Promise<void> } {
  const texts: string[] = [];
  let resolve = () => {};
  const written = new Promise<void>((done) => {
    resolve = done;
  });
  const batch = new LineBatch((lines) => {
    texts.push(lines.toString());
    resolve();
  });
  return { batch, texts, written };
}

describe('line batch', () => {
  it('is written as a whole after a delay', async () => {
    const { batch, texts, written } = record();
    batch.add('a');
    batch.add('b');
    expect(texts).to.deep.equal([]);
    // The timer of a batch does not keep a process running.
    const keep = setInterval(() => {}, 1000);
    await written.finally(() => clearInterval(keep));
    expect(texts).to.deep.equal(['a\nb\n']);
  });

  it('is written immediately when it is full', () => {
    const { batch, texts } = record();
    const line = 'x'.repeat(40_000);
    batch.add(line);
    expect(texts).to.deep.equal([]);
    // Together they would exceed one write, and output of other processes could come between.
    batch.add(line);
    expect(texts).to.deep.equal([`${line}\n`]);
    batch.add('x'.repeat(70_000));
    expect(texts.map(({ length }) => length)).to.deep.equal([40_001, 40_001, 70_001]);
    batch.flush();
    expect(texts).to.have.length(3);
  });

  it('accepts any text and passes on bytes that are not changed later', () => {
    const handedOn: Buffer[] = [];
    const batch = new LineBatch((lines) => handedOn.push(lines), 16);
    for (const line of ['é😀', 'second', 'third', 'ü'.repeat(20)]) batch.add(line);
    batch.flush();
    expect(Buffer.concat(handedOn).toString()).to.equal(`é😀\nsecond\nthird\n${'ü'.repeat(20)}\n`);
    expect(handedOn.map(({ length }) => length)).to.deep.equal([14, 6, 41]);
  });

  it('is written once when it is flushed', () => {
    const { batch, texts } = record();
    batch.flush();
    batch.add('a');
    batch.flush();
    batch.flush();
    expect(texts).to.deep.equal(['a\n']);
  });
});
