import { expect } from 'chai';
import { READ_BUFFER_BYTES, ReadMemory } from '../../../plugins/http/read-memory.js';

/** A connection whose reads are all of one length. */
function openConnection() {
  const memory = new ReadMemory();
  const read = (length = READ_BUFFER_BYTES, fill = 1) => {
    const buffer = memory.next;
    buffer.fill(fill, 0, length);
    return memory.take(length, buffer);
  };
  const parse = (bytes: Buffer, pass: (bytes: Buffer) => void) => {
    memory.beginParsing(bytes);
    pass(bytes);
    memory.endParsing();
  };
  const lend = (bytes: Buffer) => parse(bytes, () => memory.lend(bytes, true));
  // The first buffer is shared, and so the bytes are copied.
  read();
  return { memory, read, parse, lend };
}

describe('the memory for the reads of a connection', () => {
  it('reuses a buffer whose parts have come back', () => {
    const { memory, read, lend } = openConnection();
    const first = read();
    lend(first);
    memory.giveBack(first);
    read();
    expect(read().buffer).to.equal(first.buffer);
  });

  it('reuses no buffer of which a part has not come back', () => {
    const { memory, read, parse } = openConnection();
    const first = read();
    const halves = [first.subarray(0, 30_000), first.subarray(30_000)] as const;
    parse(first, () => {
      for (const half of halves) memory.lend(half, true);
    });
    memory.giveBack(halves[0]);
    const seen = Array.from({ length: 5 }, () => read().buffer);
    expect(seen).not.to.include(first.buffer);
    memory.giveBack(halves[1]);
    read();
    expect(read().buffer).to.equal(first.buffer);
  });

  it('reuses no buffer that is still parsed, or of which bytes are kept', () => {
    const { memory, read, parse } = openConnection();
    const parsed = read();
    memory.beginParsing(parsed);
    memory.lend(parsed, true);
    memory.giveBack(parsed);
    const kept = read();
    const seen = Array.from({ length: 4 }, () => read().buffer);
    expect(seen).not.to.include(parsed.buffer);
    memory.endParsing();
    parse(kept, () => {
      memory.lend(kept.subarray(0, 10), false);
      memory.lend(kept.subarray(10), true);
    });
    memory.giveBack(kept.subarray(10));
    const later = Array.from({ length: 4 }, () => read().buffer);
    expect(later).not.to.include(kept.buffer);
  });

  it('reuses a buffer that a short read has not filled', () => {
    const { memory, read } = openConnection();
    const { buffer } = memory.next;
    read(100, 7);
    read();
    expect(read().buffer).to.equal(buffer);
    memory.forget();
    const next = Array.from({ length: 4 }, () => read().buffer);
    expect(next).not.to.include(buffer);
  });

  it('never shows a buffer of one response to the next', () => {
    const { memory, read, lend } = openConnection();
    const lent = read();
    lend(lent);
    const given = read();
    lend(given);
    memory.giveBack(given);
    const installed = memory.next;
    memory.forget();
    memory.giveBack(lent);
    // The system still reads into the buffer that was chosen before.
    const copied = memory.take(READ_BUFFER_BYTES, installed);
    expect(copied.buffer).not.to.equal(installed.buffer);
    const next = Array.from({ length: 4 }, () => read().buffer);
    for (const { buffer } of [lent, given, installed]) expect(next).not.to.include(buffer);
  });

  it('copies short reads', () => {
    const { memory, read } = openConnection();
    const short = read(100, 7);
    expect(short.buffer).not.to.equal(memory.next.buffer);
    read(100, 8);
    expect(short.every((byte) => byte === 7)).to.equal(true);
  });
});
