import { type CheckerSource, type KeywordCheck, violates } from '../checker.js';

export function compileStringKeywords(
  { maxLength, minLength, pattern }: Readonly<Record<string, unknown>>,
  source: CheckerSource,
): KeywordCheck<string>[] {
  const checks: KeywordCheck<string>[] = [];
  if (typeof maxLength === 'number') {
    const reason = `expected at most ${maxLength} characters`;
    checks.push((value, run, at) => isAtMost(value, maxLength) || violates(run, at, reason));
  }
  if (typeof minLength === 'number' && minLength > 0) {
    const reason = `expected at least ${minLength} characters`;
    checks.push((value, run, at) => !isAtMost(value, minLength - 1) || violates(run, at, reason));
  }
  if (typeof pattern === 'string') {
    const matcher = source.matcherOf(pattern);
    const reason = 'expected a text that matches the pattern';
    checks.push((value, run, at) => matcher.test(value, run) || violates(run, at, reason));
  }
  return checks;
}

/** Counts code points, and only where the number of code units does not decide. */
function isAtMost(text: string, limit: number): boolean {
  if (text.length <= limit) return true;
  if (text.length > 2 * limit) return false;
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    if ((text.codePointAt(index) ?? 0) > 0xffff) index += 1;
    count += 1;
  }
  return count <= limit;
}
