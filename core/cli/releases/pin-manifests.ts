import { parseDocument } from 'yaml';
import { skipMarkOfText } from '../../lib/byte-order-mark.js';
import { toError } from '../../lib/to-error.js';
import { openVersion, type VersionContext } from '../../modules/module-version.js';
import type { PreparedDescriptor } from '../../modules/prepare-descriptor.js';
import { SILENT_LOG } from '../../plugin-loader/plugin-registry.js';
import { SOLE_LEADER } from '../../processes.js';
import { KnownModule } from '../../provider/known-module.js';
import { LoadShedder } from '../../provider/load-shedding.js';
import { OpenStreams } from '../../provider/open-streams.js';
import { LocalRates } from '../../provider/rate-limiter.js';
import { createStore } from '../../store/open-store.js';
import { CommandError } from '../command-error.js';
import { withTemporaryFolder } from './temporary-folder.js';

/**
 * Reads the manifest of a descriptor from its URL or provider, like a host.
 * @throws CommandError if it is invalid or unavailable, or if the provider cannot be opened.
 */
export function readRemoteManifest(prepared: PreparedDescriptor): Promise<string> {
  return withTemporaryFolder((stateDir) => requestManifest(prepared, stateDir));
}

async function requestManifest(prepared: PreparedDescriptor, stateDir: string): Promise<string> {
  try {
    const version = await openVersion(prepared, createContext(stateDir), new KnownModule());
    try {
      const { manifest, written = manifest } = await version.requestManifest();
      return `${JSON.stringify(written, null, 2)}\n`;
    } finally {
      await version.scope.close();
    }
  } catch (error) {
    throw new CommandError(`${prepared.file}: ${toError(error).message}`, { cause: error });
  }
}

/** Sufficient to request a manifest, because no calls follow. */
function createContext(stateDir: string): VersionContext {
  const reject = () => {
    throw new CommandError('a manifest cannot be read with the tokens of callers');
  };
  return {
    log: SILENT_LOG,
    stateDir,
    // Only calls open it.
    store: createStore({ url: null, stateDir, keys: null, log: SILENT_LOG }),
    loadShedder: new LoadShedder({ maxInFlight: 1, shedDelayMs: 1 }, { medianMs: 0 }),
    openStreams: new OpenStreams(),
    rates: new LocalRates(),
    drainMs: 0,
    identity: { prepare: async () => {}, sign: reject },
    leadership: SOLE_LEADER,
    callerTokens: { open: reject },
  };
}

/** Writes the path of the manifest into the text of a descriptor; comments are kept. */
export function writeManifestPath(file: string, text: string, path: string): string {
  if (file.endsWith('.json')) {
    const value = JSON.parse(skipMarkOfText(text)) as object;
    return `${JSON.stringify({ ...value, manifest: path }, null, 2)}\n`;
  }
  const document = parseDocument(text);
  document.set('manifest', path);
  return document.toString();
}
