/** Of a module: an adapter counts a few things, not one for each caller or path. */
const MAX_COUNTERS = 16;
const MAX_NAME_LENGTH = 64;
const MAX_HELP_LENGTH = 200;
const NAME = /^[a-z][a-z0-9_]*_total$/;
/** Without control characters, which would break lines of the exposition format. */
const HELP = /^[^\p{Cc}]+$/u;

/**
 * Asserts that an adapter may open another counter.
 * @param count of the counters that are open
 * @throws Error for an invalid name or help, and beyond the limit.
 */
export function assertCounter(name: string, help: string, count: number): void {
  if (!NAME.test(name) || name.length > MAX_NAME_LENGTH) {
    throw new Error(`a counter of an adapter must have a name such as 'late_answers_total'`);
  }
  if (!HELP.test(help) || help.length > MAX_HELP_LENGTH) {
    const expected = `a help text of 1 to ${MAX_HELP_LENGTH} printable characters`;
    throw new Error(`the counter '${name}' of an adapter must have ${expected}`);
  }
  if (count >= MAX_COUNTERS) {
    throw new Error(`an adapter must not have more than ${MAX_COUNTERS} counters`);
  }
}

/** @throws RangeError for a step that would not let a counter grow. */
export function assertStep(count: number): void {
  if (Number.isFinite(count) && count >= 0) return;
  throw new RangeError('a counter must grow by a number of at least 0');
}
