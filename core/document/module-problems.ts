import type { ModuleProblem } from '../contract/index.js';
import { readProblems } from '../contract/read-problems.js';
import { cleanDetail } from '../lib/failure-detail.js';
import { toError } from '../lib/to-error.js';
import { describePath, MAX_DIAGNOSTICS, type Path, type Violation } from './diagnostic.js';

/**
 * Reads what an adapter, which is third-party code, finds in a document.
 * @param path the place of an error of the adapter
 */
export function readModuleProblems(
  find: () => readonly ModuleProblem[] | undefined,
  path: Path,
): readonly Violation[] {
  try {
    const problems = readProblems(find() ?? []).slice(0, MAX_DIAGNOSTICS);
    return problems.map(({ path, message, hint }) => ({
      rule: 'unsupported-by-kind',
      message: `${describePath(path)} ${cleanDetail(message)}`,
      hint: hint === undefined ? null : cleanDetail(hint),
      path,
      at: 'value',
    }));
  } catch (error) {
    const { message } = toError(error);
    return [
      { rule: 'plugin-failed', message: cleanDetail(message), hint: null, path, at: 'value' },
    ];
  }
}
