import { readModulesFolder } from '../../config/modules-folder.js';
import { type LastGood, type LastGoodKeeper, LastGoodStore } from '../../modules/last-good.js';
import type { RejectedVersion, Rejections } from '../../modules/probation.js';
import { type FileStatus, StatusFiles, type StatusSink } from '../../modules/status-files.js';
import type {
  MessageSource,
  PrimaryContext,
  PrimaryLink,
  PrimaryPart,
  ProcessContext,
  SharedService,
} from '../../processes.js';
import type { MergedStatus } from './merge-status.js';
import { StatusLedger } from './status-ledger.js';

/** The files about modules, which one process writes for all. */
export interface SharedModuleFiles {
  /** `null` without status files. */
  readonly statusSink: StatusSink | null;
  readonly lastGood: LastGoodKeeper;
  /** The file that serves each module name and mount in other processes, at the start. */
  readonly holders: ReadonlyMap<string, string>;
  readonly rejections: Rejections;
}

type Message =
  | { readonly type: 'status'; readonly status: FileStatus }
  | { readonly type: 'removed'; readonly file: string }
  | { readonly type: 'files'; readonly files: ReadonlySet<string> }
  | { readonly type: 'last-good'; readonly file: string; readonly lastGood: LastGood | null }
  | { readonly type: 'rejected'; readonly rejected: RejectedVersion };

/** The merged status of each descriptor, by file. */
export type KnownModules = ReadonlyMap<string, MergedStatus<FileStatus>>;

/** Has the name of the subject whose answers it completes. */
export const SHARED_MODULE_FILES: SharedService<SharedModuleFiles> = {
  name: 'modules',
  createLocal: (context) => {
    const { statusFiles, lastGood } = openFiles(context);
    const rejections = { announce: () => {}, onAnnounced: () => {} };
    return { statusSink: statusFiles, lastGood, holders: new Map(), rejections };
  },
  createClient: (link, holders, { config, log }) => ({
    statusSink: relayStatus(link),
    lastGood: relayLastGood(link, new LastGoodStore(config.state, log)),
    holders: holders as SharedModuleFiles['holders'],
    rejections: {
      announce: (rejected) => link.send({ type: 'rejected', rejected } satisfies Message),
      onAnnounced: (listener) =>
        link.onAnnouncement((rejected) => listener(rejected as RejectedVersion)),
    },
  }),
  createPrimary: (context) => new PrimaryModuleFiles(context),
};

function openFiles({ config, log }: ProcessContext) {
  return {
    statusFiles:
      config.statusFiles === 'on' ? new StatusFiles(readModulesFolder(config), log) : null,
    lastGood: new LastGoodStore(config.state, log),
  };
}

function relayStatus(link: PrimaryLink): StatusSink {
  const send = (message: Message) => link.send(message);
  return {
    write: (status) => send({ type: 'status', status }),
    remove: (file) => send({ type: 'removed', file }),
    keepOnly: (files) => send({ type: 'files', files }),
    flush: async () => {},
  };
}

/** The primary writes these files, and cleans up when it receives the list of descriptors. */
function relayLastGood(link: PrimaryLink, stored: LastGoodKeeper): LastGoodKeeper {
  const send = (message: Message) => link.send(message);
  return {
    read: (file) => stored.read(file),
    identifyFolder: () => stored.identifyFolder(),
    write: (file, lastGood) => send({ type: 'last-good', file, lastGood }),
    remove: (file) => send({ type: 'last-good', file, lastGood: null }),
    flush: async () => {},
    keepOnly: async () => {},
  };
}

/** Only the primary writes the files, because it outlives every worker. */
class PrimaryModuleFiles implements PrimaryPart {
  readonly #ledger: StatusLedger;
  readonly #announce: PrimaryContext['announce'];

  constructor(context: PrimaryContext) {
    this.#ledger = new StatusLedger(openFiles(context));
    this.#announce = context.announce;
  }

  start(): ReadonlyMap<string, string> {
    return this.#ledger.holders;
  }

  receive(message: Message, from: MessageSource): void | Promise<void> {
    switch (message.type) {
      case 'status':
        return this.#ledger.note(from.id, message.status);
      case 'removed':
        return this.#ledger.noteRemoved(from.id, message.file);
      case 'files':
        return this.#ledger.clean(message.files);
      case 'last-good':
        return this.#ledger.keepLastGood(message.file, message.lastGood);
      case 'rejected':
        return this.#publishRejection(message.rejected, from);
    }
  }

  /** The last good version must be on disk first, because the other workers roll back to it. */
  async #publishRejection(rejected: RejectedVersion, from: MessageSource): Promise<void> {
    await this.#ledger.flush();
    this.#announce(rejected, from.id);
  }

  onExit(worker: number): void {
    this.#ledger.removeWorker(worker);
  }

  onServing(workers: readonly number[]): void {
    this.#ledger.setServing(workers);
  }

  isReady(worker: number): boolean {
    return this.#ledger.isCaughtUp(worker);
  }

  contribute(): KnownModules {
    return this.#ledger.readAll();
  }

  flush(): Promise<void> {
    return this.#ledger.flush();
  }
}
