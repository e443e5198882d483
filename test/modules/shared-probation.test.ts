import { expect } from 'chai';
import { SharedProbation } from '../../core/modules/shared-probation.js';

const NO_REJECTIONS = { announce: () => {}, onAnnounced: () => {} };

describe('figures of other workers about a version on probation', () => {
  type Receive = (message: object, worker: number) => void;
  let receive: Receive = () => {};
  const channel = (_name: string, listener: (message: never, worker: number) => void) => {
    receive = listener as Receive;
    return () => {};
  };
  const probation = new SharedProbation({ channel }, NO_REJECTIONS);
  const report = (failed: number) => receive({ digest: 'a', figures: { calls: 10, failed } }, 2);

  it('count for one try alone, whenever they arrive', () => {
    const first = probation.join('a');
    report(9);
    expect(first.others).to.deep.equal({ calls: 10, failed: 9 });
    first.leave();
    // It was on its way.
    report(10);
    const second = probation.join('a');
    expect(second.others).to.deep.equal({ calls: 0, failed: 0 });
    report(0);
    expect(second.others).to.deep.equal({ calls: 10, failed: 0 });
  });
});
