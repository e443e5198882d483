import { expect } from 'chai';
import { LazyAbortController } from '../../core/lib/lazy-abort-controller.js';

function listen(source: LazyAbortController): {
  calls: () => number;
  listener: { handleEvent(): void };
} {
  let count = 0;
  const listener = {
    handleEvent: () => {
      count += 1;
    },
  };
  source.addEventListener('abort', listener);
  return { calls: () => count, listener };
}

describe('lazy abort controller', () => {
  it('calls its listeners once and keeps the first reason', () => {
    const source = new LazyAbortController();
    const { calls } = listen(source);
    expect([source.aborted, source.reason]).to.deep.equal([false, undefined]);
    source.abort('first');
    source.abort('second');
    expect([source.aborted, source.reason, calls()]).to.deep.equal([true, 'first', 1]);
  });

  it('does not call removed listeners', () => {
    const source = new LazyAbortController();
    const [left, stayed] = [listen(source), listen(source)];
    source.removeEventListener('abort', left.listener);
    source.removeEventListener('abort', left.listener);
    source.abort('gone');
    expect([left.calls(), stayed.calls()]).to.deep.equal([0, 1]);
  });

  it('does not call listeners that are removed during the abort', () => {
    const source = new LazyAbortController();
    const second = { isCalled: false, handleEvent: () => {} };
    second.handleEvent = () => {
      second.isCalled = true;
    };
    source.addEventListener('abort', {
      handleEvent: () => source.removeEventListener('abort', second),
    });
    source.addEventListener('abort', second);
    source.abort('gone');
    expect(second.isCalled).to.equal(false);
  });

  it('aborts its signal, whether created before or after', () => {
    const reason = new Error('gone');
    const source = new LazyAbortController();
    const before = source.signal;
    expect(before.aborted).to.equal(false);
    source.abort(reason);
    expect([before.aborted, before.reason]).to.deep.equal([true, reason]);
    expect(source.signal).to.equal(before);

    const other = new LazyAbortController();
    other.abort(reason);
    expect([other.signal.aborted, other.signal.reason]).to.deep.equal([true, reason]);
  });
});
