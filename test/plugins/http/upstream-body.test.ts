import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import type { BodySink } from '../../../core/contract/index.js';
import { UpstreamBody } from '../../../plugins/http/upstream-body.js';

const LONG = 5_000;

/** A body whose connection and reader record what they are asked for. */
function openBody({ wanted = Number.POSITIVE_INFINITY, arrived = [] as string[] } = {}) {
  const calls: string[] = [];
  const record = (call: string) => () => void calls.push(call);
  const connection = {
    hold: record('hold'),
    release: record('release'),
    stop: record('stop'),
    lend: () => {},
    giveBack: () => {},
  };
  const body = new UpstreamBody(connection, arrived.map(Buffer.from));
  const parts: string[] = [];
  const sink: BodySink = {
    write: (part) => parts.push(Buffer.from(part).toString()) < wanted,
    end: record('end'),
    fail: (error) => calls.push((error as Error).message),
  };
  const add = (text: string) => body.add(Buffer.from(text));
  return { body, sink, calls, parts, add };
}

const long = (letter: string) => letter.repeat(LONG);

describe('the body of a response that is passed on while it arrives', () => {
  it('passes nothing on before it is resumed', () => {
    const { body, sink, calls, parts, add } = openBody({ arrived: ['a'] });
    const flow = body.pushTo(sink);
    add(long('b'));
    expect(parts).to.deep.equal([]);
    expect(calls).to.deep.equal(['hold']);
    flow.resume();
    expect(parts.join('')).to.equal(`a${long('b')}`);
    expect(calls).to.deep.equal(['hold', 'release']);
  });

  it('holds its connection while its reader wants no more', () => {
    const { body, sink, calls, parts, add } = openBody({ wanted: 1 });
    const flow = body.pushTo(sink);
    flow.resume();
    add(long('a'));
    add(long('b'));
    expect(parts).to.deep.equal([long('a')]);
    expect(calls).to.deep.equal(['release', 'hold', 'hold']);
  });

  it('never holds a connection that may carry the next response', () => {
    const { body, sink, calls, parts, add } = openBody({ wanted: 1 });
    const flow = body.pushTo(sink);
    add(long('a'));
    body.finish(null);
    calls.length = 0;
    flow.resume();
    expect(parts).to.deep.equal([long('a')]);
    expect(calls).to.deep.equal([]);
    flow.resume();
    expect(calls).to.deep.equal(['end']);
  });

  it('joins the small parts of one read', async () => {
    const { body, sink, calls, parts, add } = openBody();
    body.pushTo(sink).resume();
    for (const text of ['a', 'b', 'c']) add(text);
    await nextTurn();
    add('d');
    body.finish(null);
    expect(parts).to.deep.equal(['abc', 'd']);
    expect(calls).to.deep.equal(['release', 'end']);
  });

  it('fails behind the parts that have arrived, and at once without any', () => {
    for (const isHeld of [true, false]) {
      const { body, sink, calls, parts, add } = openBody({ wanted: isHeld ? 2 : 1 });
      const flow = body.pushTo(sink);
      if (isHeld) add(long('a'));
      body.finish(new Error('cut'));
      expect(calls.includes('cut')).to.equal(!isHeld);
      flow.resume();
      expect(parts.length).to.equal(isHeld ? 1 : 0);
      expect(calls.filter((call) => call === 'cut').length).to.equal(1);
    }
  });

  it('passes nothing on after it was stopped', () => {
    const { body, sink, calls, parts, add } = openBody({ arrived: ['a'] });
    const flow = body.pushTo(sink);
    flow.stop();
    flow.resume();
    add('b');
    body.finish(new Error('cut'));
    expect(parts).to.deep.equal([]);
    expect(calls).to.deep.equal(['stop']);
  });

  it('is iterated like any stream', async () => {
    const { body, add } = openBody({ arrived: ['a'] });
    const parts: string[] = [];
    setImmediate(() => {
      add('b');
      body.finish(null);
    });
    for await (const part of body) parts.push(String(part));
    expect(parts).to.deep.equal(['a', 'b']);
    expect(() => body.pushTo({ write: () => true, end: () => {}, fail: () => {} })).to.throw();
  });
});
