import Mocha from 'mocha';

const { EVENT_RUN_END, EVENT_TEST_RETRY } = Mocha.Runner.constants;

/**
 * The reporter `spec`, with the tests that failed and were run again named at the end: on a machine
 * that many share a process may stand still for seconds, but a test that passes the second time
 * is never passed over in silence.
 */
export default class SpecWithRetries extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const retried: string[] = [];
    runner.on(EVENT_TEST_RETRY, (test, error: Error) => {
      retried.push(`${test.fullTitle()}\n      ${error.message.split('\n')[0]}`);
    });
    runner.once(EVENT_RUN_END, () => {
      if (retried.length === 0) return;
      console.log(`  ${retried.length} run again after a failure:\n`);
      for (const line of retried) console.log(`    ${line}`);
    });
  }
}
