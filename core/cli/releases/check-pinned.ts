import { join, relative } from 'node:path';
import type { ReleaseFiles } from '../../modules/releases/release-files.js';
import { checkFiles } from '../check/check-files.js';
import type { CheckedFile, CheckReport } from '../check/check-report.js';
import { withTemporaryFiles } from './temporary-folder.js';

function isPinned(file: CheckedFile): boolean {
  const kind = file.kind === 'descriptor' ? file.prepared?.descriptor.manifest.kind : undefined;
  return kind === 'url' || kind === 'provider';
}

/**
 * Checks the files of a release again, whose manifests of URLs and providers the folder does not
 * have.
 * @param before the report on the folder
 * @returns what that report does not have
 */
export async function checkPinned(
  files: ReleaseFiles,
  folder: string,
  before: CheckReport,
  context: Parameters<typeof checkFiles>[1],
): Promise<CheckReport> {
  if (!before.files.some(isPinned)) return { ...before, diagnostics: [] };
  const nameIn = (root: string, { file, message }: CheckReport['diagnostics'][number]) =>
    `${relative(root, file)}: ${message}`;
  const known = new Set(before.diagnostics.map((one) => nameIn(folder, one)));
  return withTemporaryFiles(files, async (copy) => {
    const report = await checkFiles(copy, context);
    const diagnostics = report.diagnostics
      .filter((one) => !known.has(nameIn(copy, one)))
      .map((one) => ({ ...one, file: join(folder, relative(copy, one.file)) }));
    return { ...report, diagnostics, notes: [], ignored: [] };
  });
}
