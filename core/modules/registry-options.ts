import type { SlotContext } from './module-slot.js';
import type { StatusSink } from './status-files.js';

/** What the registry and its slots share. */
export type RegistryContext = SlotContext & Pick<ModuleRegistryOptions, 'lacksRelease'>;

export interface ModuleRegistryOptions
  extends Omit<SlotContext, 'pathOf' | 'isNameFree' | 'onLiveChange' | 'onRecordChange'> {
  /** The folder of descriptors. */
  readonly modulesDir: string;
  /** `null`: no status files are written. */
  readonly statusSink: StatusSink | null;
  /**
   * The folder that holds the link `modulesDir`. The target of the link is complete, so its files
   * need not settle. Absent for a folder that people write to.
   */
  readonly linkFolder?: string;
  /** Whether there may be a release of which the link has no files. Absent without releases. */
  readonly lacksRelease?: () => boolean;
  /** The origin of the public URL; `null` if none is configured. */
  readonly publicOrigin: string | null;
  /** The file that already serves in another process, by name and mount, when the host starts. */
  readonly holders?: ReadonlyMap<string, string>;
}
