import { mapConcurrently } from '../../../core/lib/promises.js';
import type { TestFramework } from '../../../core/testkit/index.js';

const AT_ONCE = 12;

/**
 * Runs the tests of each `describe` side by side, and reports them in order: a host waits half a
 * second until a file that was written or removed has settled.
 */
export function sideBySide(): TestFramework {
  const runs: (() => Promise<void>)[] = [];
  return {
    describe: (title, body) =>
      describe(title, () => {
        before(() => {
          void mapConcurrently(runs, AT_ONCE, (run) => run());
        });
        body();
      }),
    it: (title, body) => {
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
