import type { HostConfig } from '../../config/settings.js';
import { ConfigError } from '../../errors.js';
import { compareVersions } from '../../lib/compare-versions.js';
import { DESCRIPTOR_LIMITS, isAllowedReference } from '../../modules/releases/inspect-release.js';
import type { ReleaseFiles } from '../../modules/releases/release-files.js';
import { readStoredFiles } from '../../operations/releases/release-thread.js';
import { openReleaseReader } from '../../store/open-store.js';
import { StoreUnavailable } from '../../store/store-unavailable.js';
import { readVersion } from '../../version.js';
import { withTemporaryFiles } from '../releases/temporary-folder.js';
import { checkFiles } from './check-files.js';
import type { CheckReport } from './check-report.js';
import { describeFile } from './describe-file.js';

type CheckContext = Parameters<typeof checkFiles>[1];

/**
 * Checks the active release of the store as the host would serve it.
 * @returns the report, or a note without a release
 * @throws ConfigError for a store that cannot be read, and for a release that the host cannot use.
 */
export async function checkActiveRelease(
  config: Pick<HostConfig, 'store' | 'state' | 'fleet' | 'releaseReferences'>,
  context: CheckContext,
): Promise<CheckReport | string> {
  const files = await readActive(config);
  if (typeof files === 'string') return files;
  const patterns = config.releaseReferences ?? [];
  return withTemporaryFiles(files, async (folder) => {
    const checked = await checkFiles(folder, {
      ...context,
      allowsReference: (reference) => isAllowedReference(reference, patterns),
      limits: DESCRIPTOR_LIMITS,
    });
    return nameFiles(checked, folder);
  });
}

async function readActive(
  config: Pick<HostConfig, 'store' | 'state' | 'fleet'>,
): Promise<ReleaseFiles | string> {
  const fleet = config.fleet ?? '';
  try {
    const reader = await openReleaseReader(config.store, config.state);
    try {
      const active = await reader.readActive(fleet);
      const release = active === null ? null : await reader.get(fleet, active);
      if (release === null) return 'the store has no release yet';
      const { id, least_version } = release;
      if (compareVersions(readVersion(), least_version) < 0) {
        throw new ConfigError(`release ${id} requires modgate ${least_version}`);
      }
      const files = await readStoredFiles(reader, fleet, release);
      if (files === null)
        throw new ConfigError(`release ${id} has another content than was published`);
      return files;
    } finally {
      await reader.close();
    }
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return `the release cannot be checked: ${error.message}`;
  }
}

/** The folder of the files is gone when they are read. */
function nameFiles(report: CheckReport, folder: string): CheckReport {
  const prefix = describeFile(folder, '');
  const rename = <T extends { readonly file: string }>(named: T): T => ({
    ...named,
    file: named.file.startsWith(prefix)
      ? `store:${named.file.slice(prefix.length).replace(/^[/]/, '')}`
      : named.file,
  });
  return {
    ...report,
    files: report.files.map(rename),
    diagnostics: report.diagnostics.map(rename),
    notes: report.notes.map(rename),
    ignored: report.ignored.map(rename),
  };
}
