import { AUTHORIZATION_ONLY, authenticateWith } from '../../auth/authenticate.js';
import type { CallerCredentials } from '../../auth/caller-credentials.js';
import { isRejected } from '../../auth/checked-authenticator.js';
import { readSurfaceConfig } from '../../config/read-plugin-config.js';
import type { SurfaceChoice } from '../../config/surface-list.js';
import {
  type Actor,
  type AuthenticateOptions,
  type HostApi,
  type HostRequest,
  isSurfaceError,
  type Log,
  type Progress,
  type Surface,
  type SurfaceCall,
  type SurfaceContext,
  type SurfaceFactory,
} from '../../contract/index.js';
import type { SurfaceStatus } from '../../contract/plugin-status.js';
import type { References } from '../../document/references.js';
import { ConfigError, createUnavailable, HostError } from '../../errors.js';
import { type ErrorOwner, runAs } from '../../isolation/error-owner.js';
import { ModuleScope } from '../../isolation/scope.js';
import { UncaughtErrors } from '../../isolation/uncaught-errors.js';
import { nameError } from '../../lib/name-error.js';
import { withTimeout } from '../../lib/promises.js';
import { joinMasks, type Mask, UNCHANGED } from '../../lib/secrets/mask-secrets.js';
import { createLogMask, maskThrown } from '../../lib/secrets/mask-thrown.js';
import { assertResponse } from '../../lib/surface-rules.js';
import { withFields, withMask } from '../../log/logger.js';
import type { Client } from '../../operations/request.js';
import type { FoundSurface } from '../../plugin-loader/plugin-registry.js';
import { readVersion } from '../../version.js';
import { openReloadedFiles } from '../../watch/reloaded-file.js';
import { toCurrentActor } from '../authenticate-request.js';
import { createCredentialMask } from '../credential-filter.js';
import { assertSurface, cancelBody } from './assert-surface.js';
import { HostActors, type KnownActor } from './host-actors.js';
import { requestInProcess } from './in-process-request.js';
import { readOperation } from './read-operation.js';
import { readSurfaceError } from './read-surface-error.js';
import { type Pool, SurfacePlaces } from './surface-places.js';
import { createSurfaceRecords } from './surface-records.js';
import {
  DEFAULT_LIMITS,
  type SurfaceLimits,
  type SurfaceRequest,
  type SurfaceServices,
} from './surface-services.js';
import { translateHostError } from './translate-host-error.js';

/** The maximum for a body limit of a surface. Bytes. */
export const MAX_BODY_BYTES = 1_048_576;

/** An enabled surface: opened, or with the reason why it is not. */
export class MountedSurface {
  readonly name: string;
  readonly prefix: string;
  readonly plugin: string;
  readonly authentication: 'host' | 'own';
  /** `null` for a surface of a plugin outside the package, and for one without a UI. */
  readonly shippedUiDigest: string | null;
  /** The maximum body of a request with an actor, and of one without. Bytes. */
  readonly maxBodyBytes: { readonly actor: number; readonly anonymous: number };
  /** Whether the host serves its metadata of RFC 9728. */
  readonly isProtectedResource: boolean;
  readonly log: Log;
  readonly #factory: SurfaceFactory;
  readonly #choice: SurfaceChoice;
  readonly #services: SurfaceServices;
  readonly #actors = new HostActors();
  readonly #owner: ErrorOwner | null;
  readonly #scope: ModuleScope;
  /** Removes the secrets of its config, which are known once it is read. */
  #mask = UNCHANGED;
  readonly #streams = new Set<() => void>();
  readonly #requests = new WeakMap<SurfaceCall, SurfaceRequest>();
  #surface: Surface | null = null;
  #reason: string | null = 'it is not open yet';
  readonly #limits: SurfaceLimits;
  readonly #places: SurfacePlaces;

  constructor(
    { factory, plugin, isShipped }: FoundSurface,
    choice: SurfaceChoice,
    services: SurfaceServices,
  ) {
    this.name = factory.name;
    this.prefix = factory.prefix;
    this.plugin = plugin;
    this.authentication = factory.authentication ?? 'host';
    this.maxBodyBytes = readBodyLimits(factory);
    this.isProtectedResource = factory.isProtectedResource === true;
    this.shippedUiDigest = isShipped ? (factory.uiDigest ?? null) : null;
    this.log = withMask(withFields(services.log, { surface: factory.name }), (text, isCut) =>
      this.#mask(text, isCut),
    );
    this.#factory = factory;
    this.#choice = choice;
    this.#services = services;
    this.#limits = services.limits ?? DEFAULT_LIMITS;
    this.#places = new SurfacePlaces(this.#limits);
    // Shipped surfaces have no owner: in Node.js 20 it would cost time for each request of the
    // host.
    this.#owner = isShipped ? null : new UncaughtErrors(this.log, 'uncaught error in surface code');
    this.#scope = new ModuleScope(this.log, this.#owner);
  }

  get status(): SurfaceStatus {
    const { name, plugin, prefix } = this;
    const state = this.#surface === null ? 'failed' : 'open';
    return { name, plugin, prefix, state, reason: this.#reason };
  }

  /** Returns the secrets of the config; those of files follow their files. */
  async #followSecrets(first: References): Promise<References['secret']> {
    const { contents, secret } = first;
    if (contents.size === 0) return secret;
    let { secrets } = first;
    const reloaded = await openReloadedFiles([...contents.keys()].sort(), {
      log: this.log,
      name: 'surface files',
      describe: () => ({}),
      parse: async () => {
        const { references } = await readSurfaceConfig(this.#choice, this.#factory);
        // Requests that run may still have the ones before.
        this.#mask = createLogMask([...secrets, ...references.secrets]);
        secrets = references.secrets;
        return references;
      },
    });
    this.#scope.defer(() => reloaded.close());
    return (reference) => reloaded.current.secret(reference);
  }

  /**
   * Opens the surface. Other failures are logged, and the surface stays closed.
   * @throws ConfigError for a config that the surface rejects.
   */
  async open(): Promise<void> {
    const { config, references } = await readSurfaceConfig(this.#choice, this.#factory);
    const { file, path } = references;
    this.#mask = createLogMask(references.secrets);
    const secret = await this.#followSecrets(references);
    const context: SurfaceContext = {
      scope: this.#scope,
      log: this.log,
      secret,
      file,
      path,
      host: this.#createHostApi(),
      issuers: this.#services.issuers,
      authenticate: (credentials, call, options) => this.#authenticate(credentials, call, options),
      records: createSurfaceRecords(this.#services.store, this.name),
    };
    const { openMs } = this.#limits;
    try {
      const opening = runAs(this.#owner, () => this.#factory.open(config, context));
      const createLateError = () => new Error(`it did not open within ${openMs} ms`);
      const opened: unknown = await withTimeout(opening, openMs, createLateError);
      this.#surface = assertSurface(opened);
      this.#reason = null;
    } catch (error) {
      const cause = maskThrown(error, this.#mask);
      if (isSurfaceError(error) && error.code === 'validation_failed') {
        await this.#scope.close();
        throw new ConfigError(`surface '${this.name}': ${cause.message}`, { cause });
      }
      this.#reason = cause.message;
      this.log.error({ err: error }, 'surface failed');
      await this.#scope.close();
    }
  }

  /** Runs code of the surface, to which uncaught errors are attributed. */
  run<T>(work: () => T): T {
    return runAs(this.#owner, work);
  }

  /** Cancels a response that is not sent. */
  discard(response: unknown): void {
    this.run(() => cancelBody(response));
  }

  /** Adds a caller that the host has authenticated. */
  addActor(
    original: Actor | null,
    client: Client | null = null,
    reauthenticate: KnownActor['reauthenticate'] = async () => original,
    mask: Mask = UNCHANGED,
  ): Actor | null {
    return original && this.#actors.add({ original, client, reauthenticate, mask });
  }

  /**
   * Finds the actor of a request, and lets the surface reject it, before the body is read.
   * @throws HostError as `fetch`.
   */
  async admit(request: Request, call: SurfaceCall, record: SurfaceRequest = {}) {
    const isOwn = this.authentication === 'own';
    const actor = await this.#call('head', call, record, async (surface) => {
      const found = isOwn ? await surface.identify?.(request, call) : call.actor;
      await surface.admit?.(request, call);
      return found;
    });
    if (!actor) return null;
    const { original, reauthenticate } = this.#actors.find(actor);
    record.reauthenticate = reauthenticate;
    return original;
  }

  /** Finds the actor of a request again, for which `call` must be another object. */
  identify(request: Request, call: SurfaceCall, record: SurfaceRequest): Promise<unknown> {
    return this.#call('head', call, record, async (open) => open.identify?.(request, call) ?? null);
  }

  /**
   * @throws HostError for an error of the surface, for a late response, and for too many requests.
   */
  async fetch(
    request: Request,
    call: SurfaceCall,
    actor: Actor | null,
    record: SurfaceRequest = {},
  ): Promise<Response> {
    const discardLate = (late: unknown) => this.discard(late);
    return this.#call(
      actor === null ? 'anonymous' : 'actor',
      call,
      record,
      async (surface) => assertResponse(await surface.fetch(request, call)),
      discardLate,
    );
  }

  async #call<T>(
    pool: Pool,
    call: SurfaceCall,
    record: SurfaceRequest,
    work: (surface: Surface) => Promise<T>,
    onLate: (late: T) => void = () => {},
  ): Promise<T> {
    const surface = this.#surface;
    if (surface === null) throw createUnavailable('the surface failed to open');
    const { responseMs } = this.#limits;
    const leave = this.#places.take(pool, call.network);
    this.#requests.set(call, record);
    let answer: Promise<T> | null = null;
    try {
      answer = runAs(this.#owner, () => work(surface));
      const createLateError = () => createUnavailable('the surface did not answer in time');
      return await withTimeout(answer, responseMs, createLateError);
    } catch (error) {
      // Discards a late response, so that it does not keep the resources of its body.
      answer?.then(onLate).catch(() => {});
      throw this.#translate(error, call);
    } finally {
      leave();
    }
  }

  /** Returns a function that removes the stream. */
  addStream(end: () => void): () => void {
    this.#streams.add(end);
    return () => this.#streams.delete(end);
  }

  endStreams(): void {
    for (const end of [...this.#streams]) end();
  }

  close(): Promise<void> {
    this.#surface = null;
    return this.#scope.close();
  }

  #createHostApi(): HostApi {
    const { server, modules, actorRate, resources } = this.#services;
    return Object.freeze({
      version: readVersion(),
      resources,
      request: async (actor: Actor, request: HostRequest) => {
        const operation = readOperation(request.operation);
        const onProgress = this.#guardProgress(request.onProgress);
        const outer = request.call && this.#requests.get(request.call);
        const found = this.#findCaller(actor, request, outer);
        const caller = { ...found, surface: this.name, operation, onProgress };
        const response = await requestInProcess(server, caller, request);
        if (outer !== undefined && response.status >= 400) outer.isExplained = true;
        return response;
      },
      admit: async (actor: Actor) => {
        const { original } = this.#actors.find(actor);
        try {
          await actorRate?.admit(original);
        } catch (error) {
          throw translateHostError(error);
        }
      },
      snapshot: () => modules.snapshot(),
      onChange: (listener: () => void) => {
        const stop = modules.onChange(() => this.#notify(listener));
        this.#scope.defer(stop);
        return stop;
      },
    });
  }

  /** The client of a call that the host did not create is unknown. */
  #findCaller(actor: Actor, { call }: HostRequest, record: SurfaceRequest | undefined) {
    const known = this.#actors.find(actor);
    const mask = record?.mask === undefined ? known.mask : joinMasks(record.mask, known.mask);
    const client = call === undefined ? known.client : (record?.client ?? null);
    return { actor: known.original, reauthenticate: known.reauthenticate, client, mask };
  }

  /** An error of the listener must not reach the call. */
  #guardProgress(onProgress: HostRequest['onProgress']) {
    if (typeof onProgress !== 'function') return null;
    return (progress: Progress) => this.#notify(() => onProgress(progress));
  }

  /** An error of the listener counts as an uncaught error of the surface. */
  #notify(listener: () => void): void {
    try {
      runAs(this.#owner, listener);
    } catch (error) {
      if (this.#owner === null) throw error;
      this.#owner.report(error);
    }
  }

  async #authenticate(
    { scheme, token }: Parameters<SurfaceContext['authenticate']>[0],
    call: SurfaceCall | undefined,
    { isKept = false }: AuthenticateOptions = {},
  ) {
    try {
      const record = call === undefined ? undefined : this.#requests.get(call);
      const client = record?.client ?? null;
      const presented = { ...createCredentials(scheme, token), address: client?.address };
      const { chain, authFailures } = this.#services;
      const verify = () => authenticateWith(chain, presented, AUTHORIZATION_ONLY);
      const isCounted = authFailures !== null && client !== null && !isKept;
      const text = `authorization\0${scheme} ${token}`;
      const outcome = await (isCounted
        ? authFailures.guard({ address: client.address, text, verify })
        : verify());
      if (isRejected(outcome)) {
        if (record !== undefined) record.rejected = outcome;
        return null;
      }
      // Credentials that cover one body are not valid for anything else.
      if (outcome.bodySha256 !== null) return null;
      const original = outcome.actor;
      const reauthenticate = async () => toCurrentActor(await verify(), original);
      const mask = createCredentialMask(['authorization', `${scheme} ${token}`], [], []);
      return this.addActor(original, client, reauthenticate, mask);
    } catch (error) {
      throw translateHostError(error);
    }
  }

  #translate(error: unknown, { requestId }: SurfaceCall): HostError {
    if (error instanceof HostError) return error;
    let failure = error;
    try {
      const surfaceError = readSurfaceError(error);
      if (surfaceError !== null) return surfaceError;
    } catch (malformed) {
      failure = malformed;
    }
    this.log.error({ err: failure, request_id: requestId }, 'surface request failed');
    return new HostError('internal_error', 'the surface failed to handle the request', {
      nextActions: ['report the request_id to the operators of the host'],
      cause: new Error(nameError(failure)),
    });
  }
}

/** Creates the credentials of a request to the root of the host. */
function createCredentials(scheme: string, token: string): CallerCredentials {
  const headers = new Map([['authorization', [`${scheme} ${token}`]]]);
  return { scheme, token, method: 'GET', target: '/', headers };
}

function readBodyLimits({ maxBodyBytes = MAX_BODY_BYTES, maxAnonymousBodyBytes }: SurfaceFactory) {
  return { actor: maxBodyBytes, anonymous: maxAnonymousBodyBytes ?? maxBodyBytes };
}
