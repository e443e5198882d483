import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type EchoProvider, startEchoProvider } from '../echo-provider.js';
import { waitUntil } from '../http/wait-until.js';
import { type Environment, openHost } from '../open-host.js';
import { type ModgateProcess, type RunningModgate, startModgate } from '../start-host.js';

interface ModuleEntry {
  readonly name: string | null;
  readonly file: string;
  readonly state: string;
  readonly digest: string | null;
  readonly config_digest: string | null;
  readonly file_digest: string | null;
  readonly since: string;
  readonly reason: string | null;
  readonly hint: string | null;
  readonly counts: { readonly calls: number };
}

/** A host that can be restarted with the same folders. */
export interface ReloadHost {
  readonly provider: EchoProvider;
  readonly modules: string;
  readonly state: string;
  readonly running: RunningModgate;
  write(name: string, content: string | object): void;
  /** Writes a temporary file and renames it, as editors do. */
  replace(name: string, content: string | object): void;
  rename(from: string, to: string): void;
  remove(name: string): void;
  link(target: string, name: string): void;
  list(): Promise<ModuleEntry[]>;
  entry(file: string): Promise<ModuleEntry | undefined>;
  /** Waits until the descriptor has the state. */
  waitFor(file: string, state: string, deadlineMs?: number): Promise<ModuleEntry>;
  /** The status of a GET as a system. */
  get(module: string, path: string): Promise<number>;
  restart(): Promise<void>;
  close(): Promise<void>;
}

export interface ReloadProcess extends ReloadHost {
  readonly running: ModgateProcess;
  /** Ends it with the signal, default SIGTERM. */
  restart(signal?: NodeJS.Signals): Promise<void>;
}

type Files = (provider: EchoProvider) => Readonly<Record<string, string | object>>;

/** Runs in the process of the test. */
export function startReloadHost(files: Files): Promise<ReloadHost> {
  return startIn(files, openHost);
}

/** Runs in a separate process. */
export function startReloadProcess(
  files: Files,
  args: readonly string[] = [],
  env: Environment = {},
): Promise<ReloadProcess> {
  return startIn(files, (base) => startModgate([...base, ...args], env));
}

async function startIn<Running extends Omit<ModgateProcess, 'pid'>>(
  files: Files,
  startWith: (args: readonly string[]) => Promise<Running>,
) {
  const provider = await startEchoProvider();
  const directory = mkdtempSync(join(tmpdir(), 'modgate-reload-'));
  const modules = join(directory, 'modules.d');
  const state = join(directory, 'state');
  mkdirSync(modules);
  const write = (name: string, content: string | object) => writeAt(join(modules, name), content);
  for (const [name, content] of Object.entries(files(provider))) write(name, content);
  const start = () =>
    startWith([
      ...['serve', '--env', 'development', '--modules', modules, '--state', state],
      ...['--port', '0', '--host', '127.0.0.1'],
    ]);
  let running = await start();

  const list = async () => {
    const response = await fetch(`${running.url}/modules`, {
      headers: { authorization: 'Bearer dev-system:ops' },
    });
    const { modules } = (await response.json()) as { modules: ModuleEntry[] };
    return modules;
  };
  const entry = async (file: string) => (await list()).find((entry) => entry.file === file);
  return {
    provider,
    modules,
    state,
    get running() {
      return running;
    },
    write,
    replace: (name: string, content: string | object) => {
      writeAt(join(modules, `${name}.tmp`), content);
      renameSync(join(modules, `${name}.tmp`), join(modules, name));
    },
    rename: (from: string, to: string) => renameSync(join(modules, from), join(modules, to)),
    remove: (name: string) => rmSync(join(modules, name), { recursive: true }),
    link: (target: string, name: string) => {
      rmSync(join(modules, `${name}.new`), { force: true });
      symlinkSync(target, join(modules, `${name}.new`));
      renameSync(join(modules, `${name}.new`), join(modules, name));
    },
    list,
    entry,
    waitFor: async (file: string, expected: string, deadlineMs?: number) => {
      let last: ModuleEntry | undefined;
      const isExpected = async () => {
        last = await entry(file);
        return last?.state === expected;
      };
      await waitUntil(`${file} is ${expected}`, isExpected, deadlineMs);
      return last as ModuleEntry;
    },
    get: async (module: string, path: string) => {
      const response = await fetch(
        `${running.url}/modules/${encodeURIComponent(module)}/http${path}`,
        { headers: { authorization: 'Bearer dev-system:caller' } },
      );
      await response.arrayBuffer();
      return response.status;
    },
    restart: async (signal?: NodeJS.Signals) => {
      await running.stop(signal);
      running = await start();
    },
    close: async () => {
      await running.kill();
      await provider.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function writeAt(path: string, content: string | object): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
}
