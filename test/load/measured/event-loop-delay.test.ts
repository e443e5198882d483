import { expect } from 'chai';
import { EventLoopDelay } from '../../../core/provider/event-loop-delay.js';
import { waitUntil } from '../../support/http/wait-until.js';

describe('event loop delay', () => {
  let delay: EventLoopDelay | undefined;
  let hog: NodeJS.Immediate | undefined;

  afterEach(() => {
    clearImmediate(hog);
    delay?.close();
  });

  const block = (ms: number) => {
    const end = performance.now() + ms;
    while (performance.now() < end);
  };

  const waitForTicks = () => new Promise((resolve) => setTimeout(resolve, 200));

  it('grows while the loop is always late, and falls afterwards', async () => {
    const measured = new EventLoopDelay();
    delay = measured;
    expect(measured.medianMs).to.equal(0);
    const keepBusy = () => {
      block(60);
      hog = setImmediate(keepBusy);
    };
    keepBusy();
    await waitUntil('a late loop', () => measured.medianMs > 30);
    clearImmediate(hog);
    await waitUntil('a loop in time', () => measured.medianMs < 10);
  });

  it('returns quantiles since the last read, including the longest pause', async () => {
    const measured = new EventLoopDelay();
    delay = measured;
    expect(measured.readQuantiles([0.5, 1])).to.deep.equal([0, 0]);
    await waitForTicks();
    block(400);
    await waitForTicks();
    const [median, longest] = measured.readQuantiles([0.5, 1]) as [number, number];
    expect(median).to.be.below(0.3);
    expect(longest).to.be.within(0.3, 5);
    await waitForTicks();
    expect(measured.readQuantiles([1])[0]).to.be.below(0.3);
  });

  it('does not grow with one long pause, even if it fills a window', async () => {
    const measured = new EventLoopDelay();
    delay = measured;
    // After a reset the histogram needs one tick (20 ms) before it records anything.
    const windowIsOver = performance.now() + 500 + 30;
    while (performance.now() < windowIsOver) await new Promise(setImmediate);
    block(1200);
    let most = 0;
    const end = performance.now() + 1600;
    await waitUntil('three windows', () => {
      most = Math.max(most, measured.medianMs);
      return performance.now() > end;
    });
    expect(most).to.be.below(100);
  });
});
