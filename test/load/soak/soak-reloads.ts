import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { FaultCalendar } from './fault-calendar.js';
import { describeModule, MODULES, type ModuleName, type ProviderEntry } from './soak-module.js';

const PAUSE_MS = 700;
/** The host applies a change within a second. The rest is for a busy machine. */
const FOLLOW_MS = 3000;

interface ReloadOptions {
  readonly folder: string;
  readonly providers: Readonly<Record<ModuleName, ProviderEntry>>;
  readonly calendar: FaultCalendar;
  readonly signal: AbortSignal;
}

/** Changes descriptors, also to invalid ones, until the signal is aborted. @returns the number of changes */
export async function reloadDescriptors(options: ReloadOptions): Promise<number> {
  const { folder, providers, signal } = options;
  const toggling = toggleDescriptor(options);
  let version = 0;
  while (!signal.aborted) {
    version += 1;
    for (const name of [MODULES.calm, MODULES.local, MODULES.socket, MODULES.shaky]) {
      writeDescriptor(folder, name, describeModule(name, providers[name], version));
    }
    await rest(PAUSE_MS, signal);
    // The last good version keeps serving.
    writeDescriptor(folder, MODULES.calm, { module: MODULES.calm, provider: 'broken' });
    await rest(PAUSE_MS, signal);
  }
  return 5 * version + (await toggling);
}

/** Removes and writes one descriptor repeatedly. Clients may get 404 at any time. */
async function toggleDescriptor({
  folder,
  providers,
  calendar,
  signal,
}: ReloadOptions): Promise<number> {
  const name = MODULES.transient;
  const end = calendar.begin(name, 'removed', ['404']);
  let changes = 0;
  for (; !signal.aborted; changes += 2) {
    rmSync(join(folder, `${name}.json`), { force: true });
    await rest(FOLLOW_MS, signal);
    writeDescriptor(folder, name, describeModule(name, providers[name]));
    await rest(FOLLOW_MS, signal);
  }
  end();
  return changes;
}

export function writeDescriptor(folder: string, name: string, content: object): void {
  const file = join(folder, `${name}.json`);
  writeFileSync(`${file}.tmp`, JSON.stringify(content));
  renameSync(`${file}.tmp`, file);
}

function rest(ms: number, signal: AbortSignal): Promise<void> {
  return pause(ms, undefined, { signal }).catch(() => {});
}
