import { expect } from 'chai';
import fc from 'fast-check';
import { type Deadline, OpenDeadlines } from '../../core/provider/deadline.js';

class FakeDeadline {
  place = -1;
  cuts = 0;

  cut(): void {
    this.cuts += 1;
  }
}

const asDeadline = (fake: FakeDeadline) => fake as unknown as Deadline;

describe('the deadlines of calls under way', () => {
  it('are those that were added and not taken out, in whatever order that was', () => {
    // true: one more; a number: out goes one of those that are in.
    const steps = fc.array(fc.oneof(fc.constant(true as const), fc.nat()), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (taken) => {
        const open = new OpenDeadlines();
        const model: FakeDeadline[] = [];
        const gone: FakeDeadline[] = [];
        for (const step of taken) {
          if (step === true) {
            const fake = new FakeDeadline();
            model.push(fake);
            open.add(asDeadline(fake));
          } else if (model.length > 0) {
            const [fake] = model.splice(step % model.length, 1);
            if (fake === undefined) throw new Error('nothing was taken out');
            gone.push(fake);
            open.delete(asDeadline(fake));
          }
          expect(open.size).to.equal(model.length);
        }
        open.cut();
        expect(model.every(({ cuts }) => cuts === 1)).to.equal(true);
        expect(gone.every(({ cuts }) => cuts === 0)).to.equal(true);
      }),
    );
  });

  it('may end while they are cut', () => {
    const open = new OpenDeadlines();
    const fakes = Array.from({ length: 3 }, () => new FakeDeadline());
    for (const fake of fakes) {
      open.add(asDeadline(fake));
      fake.cut = () => {
        fake.cuts += 1;
        open.delete(asDeadline(fake));
      };
    }
    open.cut();
    expect(fakes.map(({ cuts }) => cuts)).to.deep.equal([1, 1, 1]);
    expect(open.size).to.equal(0);
  });
});
