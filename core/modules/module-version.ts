import { join } from 'node:path';
import type { AcceptedTokens } from '../auth/accepted-tokens.js';
import type { Log, Manifest, Provider, ProviderRoute, Supports } from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import type { PreparedProvider } from '../descriptor/section.js';
import { formatDiagnostic, InvalidFile } from '../document/diagnostic.js';
import type { IdentitySigner } from '../identity/identity-keys.js';
import { type ErrorOwner, runAs } from '../isolation/error-owner.js';
import { ModuleScope } from '../isolation/scope.js';
import { UncaughtErrors } from '../isolation/uncaught-errors.js';
import { LazyAbortController } from '../lib/lazy-abort-controller.js';
import { withTimeout } from '../lib/promises.js';
import type { RouteTable } from '../lib/routing/route-table.js';
import { maskThrown } from '../lib/secrets/mask-thrown.js';
import { withFields, withMask } from '../log/logger.js';
import { type LoadedManifest, loadManifest } from '../manifest/load-manifest.js';
import { type FleetLeadership, type Leadership, SOLE_LEADER } from '../processes.js';
import type { ObserverFactory, ObserverSource } from '../provider/call-observer.js';
import { checkedProvider } from '../provider/checked-provider.js';
import { Deadline } from '../provider/deadline.js';
import type { KnownModule } from '../provider/known-module.js';
import type { LoadShedder } from '../provider/load-shedding.js';
import { createMask, maskFailure } from '../provider/mask-failure.js';
import type { OpenStreams } from '../provider/open-streams.js';
import { ProviderClient } from '../provider/provider-client.js';
import type { RateLimiters } from '../provider/rate-limiter.js';
import type { Store } from '../store/store.js';
import { readDeliveryPlace } from './delivery-place.js';
import { createFollower } from './follow-document.js';
import {
  createLiveModule,
  createRoutes,
  createRoutesInSlices,
  type LiveModule,
  type LiveRoute,
  type RouteContext,
} from './live-module.js';
import { ModuleConfig } from './module-config.js';
import { openSigner } from './open-signer.js';
import {
  configDigestOf,
  type PreparedDescriptor,
  type PreparedSigner,
} from './prepare-descriptor.js';
import { describeDependence } from './provider-dependence.js';

export interface VersionContext {
  readonly log: Log;
  /** Each module has its own folder in it. */
  readonly stateDir: string;
  readonly store: Store;
  /** The limits of the whole host. */
  readonly loadShedder: LoadShedder;
  /** The streams of events of the whole process. */
  readonly openStreams: OpenStreams;
  /** Makes rate limits that hold over all processes of the host. */
  readonly rates: RateLimiters;
  /** Opens what observes the calls of each version. Default: nothing does. */
  readonly observers?: ObserverSource;
  /** How long streams of a replaced version may continue. Milliseconds. */
  readonly drainMs: number;
  /** Signs the caller's identity, for descriptors with `identity: true`. */
  readonly identity: IdentitySigner;
  readonly leadership: Leadership;
  /** The leadership over hosts of a fleet, which share a provider that one configures. */
  readonly fleetLeadership?: FleetLeadership | null;
  readonly callerTokens: Pick<AcceptedTokens, 'open'>;
}

/** Longer than the import of a local module may take. */
const OPEN_TIMEOUT_MS = 30_000;

/** One opened version of a module. It has a provider from the start, and serves once it has a manifest. */
export interface ModuleVersion {
  readonly prepared: PreparedDescriptor;
  readonly client: ProviderClient;
  readonly scope: ModuleScope;
  /** How long its streams of events may continue when it is replaced. Milliseconds. */
  readonly drainMs: number;
  readonly uncaughtErrors: UncaughtErrors;
  /**
   * Requests the manifest from the source that the descriptor names.
   * @throws InvalidFile for an invalid manifest; ManifestUnavailable for one that may be available later.
   */
  requestManifest(): Promise<LoadedManifest>;
  /** Binds the version to a manifest, so that it can serve. */
  createLive(manifest: Pick<LoadedManifest, 'manifest' | 'digest'>): LiveModule;
}

/**
 * Opens the provider. The module itself need not be up.
 * @throws what the adapter throws, after the cleanups that it registered have run.
 */
export async function openVersion(
  prepared: PreparedDescriptor,
  context: VersionContext,
  known: KnownModule,
): Promise<ModuleVersion> {
  const { descriptor, adapter, references } = prepared;
  const { module } = descriptor;
  const { exchange } = descriptor.configDescription ?? {};
  const secrets = [{ references }, ...prepared.furtherProviders].flatMap(
    (provider) => provider.references.secrets,
  );
  const mask = createMask(secrets);
  const log = withMask(withFields(context.log, { module }), mask);
  const uncaughtErrors = new UncaughtErrors(log, 'uncaught error in module code');
  const owner = prepared.isTracked ? uncaughtErrors : null;
  const scope = new ModuleScope(log, owner);
  const createSignerOpener = ({ factory, config, references }: PreparedSigner) => {
    const { secret, file, path } = references;
    return () =>
      openSigner(factory, config, { module, scope, log, secret, file, path }, uncaughtErrors);
  };
  const { kind, config } = descriptor.provider;
  const providers: Provider[] = [];
  const open = async ({ config, references, section }: OpenableProvider) => {
    const opened = await openInTime(kind, owner, () =>
      adapter.open(config, {
        module,
        scope,
        log: section === undefined ? log : withFields(log, { [section]: true }),
        stateDir: join(context.stateDir, 'modules', encodeURIComponent(module), section ?? ''),
        secret: references.secret,
        file: references.file,
        path: references.path,
        ...(exchange !== undefined && { callerTokens: context.callerTokens.open(exchange.issuer) }),
        counter: (name, help) => known.counters.open(kind, name, help),
        follow: createFollower({ references, log, scope, owner }),
        ...(prepared.signer !== null && { openSigner: createSignerOpener(prepared.signer) }),
      }),
    );
    const checked = checkedProvider(opened, kind, owner);
    providers.push(checked);
    return checked;
  };
  try {
    const provider = await open({ config, references });
    if (descriptor.identity) await context.identity.prepare();
    const routes = new PreparedRoutes({ descriptor, adapter });
    if (prepared.manifest !== null) await routes.prepare(prepared.manifest.manifest);
    const opening = { provider, providers, scope, uncaughtErrors, owner, known, routes };
    const createObserver = await context.observers?.open({
      descriptor,
      furtherProviders: prepared.furtherProviders,
      streams: adapter.supports.streams === true,
      provider,
      openFurther: open,
      identity: context.identity,
      log,
      owner,
      scope,
    });
    return createVersion(prepared, { createObserver, ...opening }, { ...context, log });
  } catch (error) {
    await scope.close();
    // The host's own diagnostics never contain a value.
    throw error instanceof InvalidFile ? error : maskThrown(error, mask);
  }
}

/** The live provider, or one that a section opens beside it. */
type OpenableProvider = Pick<PreparedProvider, 'config' | 'references'> & Partial<PreparedProvider>;

async function openInTime(
  kind: string,
  owner: ErrorOwner | null,
  open: () => Provider | Promise<Provider>,
): Promise<unknown> {
  const createLateError = () =>
    new Error(`the adapter of kind '${kind}' did not open within ${OPEN_TIMEOUT_MS} ms`);
  return withTimeout(runAs(owner, open), OPEN_TIMEOUT_MS, createLateError);
}

interface OpenedProvider extends Pick<ModuleVersion, 'scope' | 'uncaughtErrors'> {
  readonly provider: Provider;
  /** It and those that sections open beside it. */
  readonly providers: readonly Provider[];
  /** The owner of errors in its code; `null` for the host's own code. */
  readonly owner: ErrorOwner | null;
  readonly known: KnownModule;
  readonly routes: PreparedRoutes;
  readonly createObserver: ObserverFactory | null | undefined;
}

function createVersion(
  prepared: PreparedDescriptor,
  {
    provider,
    providers,
    scope,
    uncaughtErrors,
    owner,
    known,
    routes,
    createObserver,
  }: OpenedProvider,
  { log, store, loadShedder, openStreams, rates, drainMs, identity, ...leaders }: VersionContext,
): ModuleVersion {
  const { descriptor, file, locate, baseDir } = prepared;
  const { connection, content } = describeDependence(prepared);
  const client = new ProviderClient({
    provider,
    streams: prepared.adapter.supports.streams === true,
    upgrades: prepared.adapter.supports.upgrade === true,
    descriptor,
    log,
    scope,
    loadShedder,
    openStreams,
    rates,
    identity: descriptor.identity ? identity : null,
    secrets: prepared.references.secrets,
    owner,
    known,
    connection,
  });
  // A version that serves with the last good manifest is bound again when its own arrives.
  let binding = new LazyAbortController();
  scope.defer(() => binding.abort());
  return {
    prepared,
    client,
    scope,
    uncaughtErrors,
    drainMs,
    requestManifest: async () => {
      const manifest = await loadManifest({
        descriptor,
        file,
        locate,
        baseDir,
        adapter: prepared.adapter,
        kinds: prepared.kinds,
        readFromProvider: (signal) =>
          requestFromProvider(provider, descriptor, signal, owner).catch((error: unknown) => {
            throw maskFailure(error, createMask(prepared.references.secrets));
          }),
        signal: scope.signal,
        log,
      });
      for (const warning of manifest.warnings)
        log.warn({ file, warning: formatDiagnostic(warning) }, 'manifest warning');
      await routes.prepare(manifest.manifest);
      return manifest;
    },
    createLive: ({ manifest, digest }) => {
      binding.abort();
      binding = new LazyAbortController();
      const { supports } = prepared.adapter;
      const placed = { ...prepared, signer: prepared.signer?.factory ?? null };
      const config = new ModuleConfig({
        descriptor,
        manifest,
        provider,
        endpoints: client.currentEndpoints,
        supportsConfigure: supports.configure === true,
        ...chooseLeaders(leaders, supports),
        store,
        readPlace: () => readDeliveryPlace(placed, manifest),
        log,
        owner,
        end: binding,
      });
      config.start();
      client.useRoutes(manifest.http_routes);
      const table = routes.take(manifest);
      announceRoutes(providers, table, log);
      const parts = {
        descriptor,
        manifest,
        manifestDigest: digest,
        configDigest: configDigestOf(prepared.inputDigest, digest),
        content,
        client,
        config,
        observer: createObserver?.(manifest) ?? null,
        secrets: prepared.references.secrets,
      };
      return createLiveModule(parts, table);
    },
  };
}

/** The route table of a manifest that is about to serve. */
class PreparedRoutes {
  readonly #context: RouteContext;
  #prepared: { readonly of: Manifest; readonly table: RouteTable<LiveRoute> } | null = null;

  constructor(context: RouteContext) {
    this.#context = context;
  }

  async prepare(manifest: Manifest): Promise<void> {
    const table = await createRoutesInSlices(this.#context, manifest);
    this.#prepared = { of: manifest, table };
  }

  /**
   * Returns the prepared table. For another manifest, such as the last good one, it is created now.
   */
  take(manifest: Manifest): RouteTable<LiveRoute> {
    const prepared = this.#prepared;
    this.#prepared = null;
    return prepared?.of === manifest ? prepared.table : createRoutes(this.#context, manifest);
  }
}

/** An error of one adapter must not keep the module from serving. */
function announceRoutes(
  providers: readonly Provider[],
  { entries }: RouteTable<LiveRoute>,
  log: Log,
): void {
  const routes = entries.map(({ value: { declared, options } }): ProviderRoute => {
    return { declared, ...(options !== undefined && { options }) };
  });
  for (const provider of providers) {
    try {
      provider.useRoutes?.(routes);
    } catch (error) {
      log.error({ err: error }, 'adapter rejected its routes');
    }
  }
}

/** The timeout lets the next attempt begin when an adapter never responds. */
async function requestFromProvider(
  provider: Provider,
  { limits }: Descriptor,
  signal: AbortSignal,
  owner: ErrorOwner | null,
): Promise<Uint8Array> {
  const deadline = new Deadline(limits.timeout_ms, signal, owner);
  try {
    return await deadline.race(provider.manifest(deadline.signal));
  } finally {
    deadline.end();
  }
}

/** A process with its own provider configures that provider itself. */
function chooseLeaders(
  { leadership, fleetLeadership = null }: Pick<VersionContext, 'leadership' | 'fleetLeadership'>,
  { perProcess }: Supports,
) {
  return perProcess === true
    ? { leadership: SOLE_LEADER, fleetLeadership: null }
    : { leadership, fleetLeadership };
}
