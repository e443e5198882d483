import { mapConcurrently } from '../../core/lib/promises.js';
import type { TestFramework } from '../../core/testkit/index.js';

const AT_ONCE = 12;

/**
 * Runs the tests of each `describe` side by side, and reports them in order: most of their time is
 * spent waiting.
 * @param isAlone whether a test looks at the whole process: it runs after the others
 */
export function sideBySide(isAlone: (title: string) => boolean = () => false): TestFramework {
  let runs: (() => Promise<void>)[] = [];
  let others: Promise<unknown>;
  return {
    describe: (title, body) =>
      describe(title, () => {
        const own: typeof runs = [];
        const outer = runs;
        runs = own;
        before(() => {
          others = mapConcurrently(own, AT_ONCE, (run) => run());
        });
        body();
        runs = outer;
      }),
    it: (title, body) => {
      if (isAlone(title)) {
        it(title, async function () {
          await others;
          await body.call(this);
        });
        return;
      }
      let isSkipped = false;
      const skip = () => {
        isSkipped = true;
      };
      const ended = new Promise<void>((resolve, reject) => {
        runs.push(() => body.call({ skip }).then(resolve, reject));
      });
      ended.catch(() => {});
      it(title, async function () {
        await ended;
        if (isSkipped) this.skip();
      });
    },
  };
}
