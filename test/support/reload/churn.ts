import { setTimeout as pause } from 'node:timers/promises';
import { waitUntil } from '../http/wait-until.js';
import { describeVersion } from './many-reloads.js';
import type { ReloadHost } from './reload-host.js';

interface ChurnFigures {
  /** The number of changes of each type. */
  readonly done: Readonly<Record<string, number>>;
  /** The last good version of each module that was changed. */
  readonly versions: ReadonlyMap<string, number>;
}

const PAUSE_MS = 40;
/** A module that the load does not call, because it is removed repeatedly. */
const PASSING = 'passing';

/** Adds and removes a module. Then the host has seen all earlier changes, however busy it is. */
async function passRound(host: ReloadHost, version: number): Promise<void> {
  host.write(`${PASSING}.json`, describeVersion(PASSING, host.provider.url, version));
  const isServed = async () => (await host.get(PASSING, `/v${version % 2}`)) === 200;
  await waitUntil('the passing module is served', isServed);
  host.remove(`${PASSING}.json`);
}

/**
 * Changes, breaks, fixes, renames and removes files for a while. The given modules must be served without
 * interruption.
 */
export async function churn(
  host: ReloadHost,
  modules: readonly string[],
  durationMs: number,
): Promise<ChurnFigures> {
  const files = new Map(modules.map((name) => [name, `${name}.json`]));
  const versions = new Map<string, number>();
  const done = { changed: 0, broken: 0, repaired: 0, renamed: 0, removed: 0 };
  const broken = new Set<string>();
  const giveNext = (name: string) => {
    const version = (versions.get(name) ?? 1) + 1;
    versions.set(name, version);
    return describeVersion(name, host.provider.url, version);
  };
  const actions = [
    (name: string, file: string) => {
      host.write(file, giveNext(name));
      done[broken.delete(name) ? 'repaired' : 'changed'] += 1;
    },
    (name: string, file: string) => {
      host.replace(file, giveNext(name));
      done[broken.delete(name) ? 'repaired' : 'changed'] += 1;
    },
    (name: string, file: string) => {
      host.write(file, `{"module": "${name}", "provdier": {}}`);
      broken.add(name);
      done.broken += 1;
    },
    (name: string, file: string) => {
      const to = `${name}.${done.renamed}.json`;
      host.rename(file, to);
      files.set(name, to);
      done.renamed += 1;
    },
  ];
  const until = performance.now() + durationMs;
  for (let step = 0; performance.now() < until; step += 1) {
    const name = modules[step % modules.length] ?? '';
    const action = actions[Math.floor(Math.random() * actions.length)];
    action?.(name, files.get(name) ?? '');
    if (step % modules.length === modules.length - 1) {
      await passRound(host, step);
      done.removed += 1;
    }
    // The recorded requests are not used.
    host.provider.reset();
    await pause(PAUSE_MS);
  }
  for (const name of broken) host.write(files.get(name) ?? '', giveNext(name));
  return { done, versions };
}
