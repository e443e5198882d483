import type { Log } from '../contract/index.js';
import type { LastGoodKeeper } from './last-good.js';
import type { ModuleRecord } from './module-record.js';
import type { ModuleVersion, VersionContext } from './module-version.js';
import type { DescriptorContext } from './prepare-descriptor.js';
import type { SharedProbation } from './probation.js';

/** The context that all slots of a registry share. */
export interface SlotContext extends DescriptorContext, VersionContext {
  readonly log: Log;
  readonly lastGood: LastGoodKeeper;
  /** The counts of other workers for versions on probation; absent in a single-process host. */
  readonly sharedProbation?: SharedProbation;
  /** The path of a descriptor's file. */
  readonly pathOf: (file: string) => string;
  /** Whether no other file serves under the name or will do so. */
  readonly isNameFree: (name: string, file: string) => boolean;
  /** Called when the serving version has changed; `retired` can be closed once no request can select it. */
  readonly onLiveChange: (retired: ModuleVersion | null) => void;
  /** Called when the slot's record has changed; `changed` lists the changed parts of the module. */
  readonly onRecordChange: (record: ModuleRecord, changed: readonly string[]) => void;
}
