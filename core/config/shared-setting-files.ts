import { type FileContents, shareSettingFiles } from '../document/setting-files.js';
import type { SharedService } from '../processes.js';

/**
 * The contents of the files of settings that the workers use, so that a replacement of a worker
 * starts although a file is invalid meanwhile. The client is called when the process has started.
 */
export const SHARED_SETTING_FILES: SharedService<() => void> = {
  name: 'setting-files',
  createLocal: () => () => {},
  createClient: (link, known, { log }) =>
    shareSettingFiles({
      known: known as FileContents,
      onUse: (contents) => link.send(contents),
      onFallback: (reason) =>
        log.warn({ reason }, 'settings are invalid; using those of the other workers'),
    }),
  createPrimary: () => {
    const known = new Map<string, Buffer>();
    return {
      // A rolling restart reads the files, and ends at one that is invalid.
      start: ({ isSuccessor }) => (isSuccessor ? new Map() : known),
      receive: (contents) => {
        for (const [path, content] of contents as FileContents) known.set(path, content);
      },
    };
  },
};
