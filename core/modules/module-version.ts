import { join } from 'node:path';
import type { Log, Provider } from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import { formatDiagnostic } from '../document/diagnostic.js';
import type { IdentitySigner } from '../identity/identity-keys.js';
import { type ErrorOwner, runAs } from '../isolation/error-owner.js';
import { ModuleScope } from '../isolation/scope.js';
import { UncaughtErrors } from '../isolation/uncaught-errors.js';
import { LazyAbortController } from '../lib/lazy-abort-controller.js';
import { withTimeout } from '../lib/promises.js';
import { withFields } from '../log/logger.js';
import { type LoadedManifest, loadManifest } from '../manifest/load-manifest.js';
import { checkedProvider } from '../provider/checked-provider.js';
import { Deadline } from '../provider/deadline.js';
import type { LoadShedder } from '../provider/load-shedding.js';
import { ProviderClient } from '../provider/provider-client.js';
import type { Store } from '../store/store.js';
import { type Leadership, SOLE_PROCESS } from './leadership.js';
import { createLiveModule, type LiveModule } from './live-module.js';
import { ModuleConfig } from './module-config.js';
import { configDigestOf, type PreparedDescriptor } from './prepare-descriptor.js';

export interface VersionContext {
  readonly log: Log;
  /** Under it each module has a folder of its own. */
  readonly stateDir: string;
  readonly store: Store;
  /** What the whole host can carry; absent: no limit but those of the modules. */
  readonly pressure?: LoadShedder;
  /** Signs who calls, for descriptors that ask for it. */
  readonly identity?: IdentitySigner;
  readonly leadership: Leadership;
}

/**
 * Kinds whose code is the host's own: an error that it leaves uncaught is the host's. To keep an owner
 * through each call costs Node.js 20 a tenth of the CPU time of a request, and with these kinds alone that
 * is not paid.
 */
const OWN_KINDS: ReadonlySet<string> = new Set(['http', 'unix']);

// A module that hangs while it opens must not hold up the changes of others for long.
const OPEN_TIMEOUT_MS = 5000;

/** One opened version of a module. It has a provider from the start, and a live module with its manifest. */
export interface ModuleVersion {
  readonly prepared: PreparedDescriptor;
  readonly client: ProviderClient;
  readonly scope: ModuleScope;
  /** What its code left uncaught. */
  readonly strays: UncaughtErrors;
  /**
   * Asks for the manifest where the descriptor says.
   * @throws InvalidFile for a manifest that is bad; ManifestUnavailable for one that may come later.
   */
  askManifest(): Promise<LoadedManifest>;
  /** Binds the version to a manifest: it can then serve. */
  createLive(manifest: Pick<LoadedManifest, 'manifest' | 'digest'>): LiveModule;
}

/**
 * Opens the provider. Never needs the module to be up.
 * @throws whatever the adapter throws; what it had registered to undo is undone.
 */
export async function openVersion(
  prepared: PreparedDescriptor,
  context: VersionContext,
): Promise<ModuleVersion> {
  const { descriptor, adapter, references } = prepared;
  const log = withFields(context.log, { module: descriptor.module });
  const strays = new UncaughtErrors(log, 'the code of the module left an error uncaught');
  const owner = OWN_KINDS.has(descriptor.provider.kind) ? null : strays;
  const scope = new ModuleScope(log, owner);
  try {
    const opened = await openInTime(descriptor.provider.kind, owner, () =>
      adapter.open(descriptor.provider.config, {
        module: descriptor.module,
        scope,
        log,
        stateDir: join(context.stateDir, 'modules', encodeURIComponent(descriptor.module)),
        secret: references.secret,
        file: references.file,
        path: references.path,
      }),
    );
    const provider = checkedProvider(opened, descriptor.provider.kind, owner);
    if (descriptor.identity) await context.identity?.prepare();
    return createVersion(prepared, { provider, scope, strays, owner }, { ...context, log });
  } catch (error) {
    await scope.close();
    throw error;
  }
}

async function openInTime(
  kind: string,
  owner: ErrorOwner | null,
  open: () => Provider | Promise<Provider>,
): Promise<unknown> {
  const createLateError = () =>
    new Error(`the adapter of kind '${kind}' did not open within ${OPEN_TIMEOUT_MS} ms`);
  return withTimeout(runAs(owner, open), OPEN_TIMEOUT_MS, createLateError);
}

interface OpenedProvider extends Pick<ModuleVersion, 'scope' | 'strays'> {
  readonly provider: Provider;
  /** Who answers for its code; `null`: the host. */
  readonly owner: ErrorOwner | null;
}

function createVersion(
  prepared: PreparedDescriptor,
  { provider, scope, strays, owner }: OpenedProvider,
  { log, store, pressure, identity, leadership }: VersionContext,
): ModuleVersion {
  const { descriptor, file, locate, baseDir } = prepared;
  const client = new ProviderClient({
    provider,
    descriptor,
    log,
    scope,
    loadShedder: pressure ?? null,
    identity: (descriptor.identity ? identity : null) ?? null,
    owner,
  });
  // A version that served with its last good manifest is bound anew when its own comes.
  let binding = new LazyAbortController();
  scope.defer(() => binding.abort());
  return {
    prepared,
    client,
    scope,
    strays,
    askManifest: async () => {
      const manifest = await loadManifest({
        descriptor,
        file,
        locate,
        baseDir,
        askProvider: (signal) => askForManifest(provider, descriptor, signal, owner),
        signal: scope.signal,
      });
      for (const warning of manifest.warnings) log.warn({ file }, formatDiagnostic(warning));
      return manifest;
    },
    createLive: ({ manifest, digest }) => {
      binding.abort();
      binding = new LazyAbortController();
      const { supports } = prepared.adapter;
      const config = new ModuleConfig({
        descriptor,
        manifest,
        provider,
        takesConfig: supports.configure === true,
        // Who has a provider of its own configures it.
        leadership: supports.perProcess === true ? SOLE_PROCESS : leadership,
        store,
        log,
        owner,
        end: binding,
      });
      config.start();
      return createLiveModule({
        descriptor,
        manifest,
        manifestDigest: digest,
        configDigest: configDigestOf(prepared.inputDigest, digest),
        client,
        config,
      });
    },
  };
}

/** An adapter that never answers must not keep the module from being asked for again. */
async function askForManifest(
  provider: Provider,
  { limits }: Descriptor,
  signal: AbortSignal,
  owner: ErrorOwner | null,
): Promise<unknown> {
  const deadline = new Deadline(limits.timeoutMs, signal, owner);
  try {
    return await deadline.race(provider.manifest(deadline.signal));
  } finally {
    deadline.end();
  }
}
