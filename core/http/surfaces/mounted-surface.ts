import { AUTHORIZATION_ONLY, authenticateWith } from '../../auth/authenticate.js';
import type { CallerCredentials } from '../../auth/caller-credentials.js';
import type { CheckedAuthenticator } from '../../auth/checked-authenticator.js';
import { readPluginConfig } from '../../config/read-plugin-config.js';
import type { SurfaceChoice } from '../../config/surface-list.js';
import {
  type Actor,
  type HostApi,
  type HostRequest,
  isSurfaceError,
  type Log,
  type Surface,
  type SurfaceCall,
  type SurfaceContext,
  SurfaceError,
  type SurfaceFactory,
} from '../../contract/index.js';
import { ConfigError, createUnavailable, HostError } from '../../errors.js';
import type { ErrorOwner } from '../../isolation/error-owner.js';
import { runAs } from '../../isolation/error-owner.js';
import { ModuleScope } from '../../isolation/scope.js';
import { UncaughtErrors } from '../../isolation/uncaught-errors.js';
import { nameError } from '../../lib/name-error.js';
import { withTimeout } from '../../lib/promises.js';
import { toError } from '../../lib/to-error.js';
import { withFields } from '../../log/logger.js';
import type { SurfaceStatus } from '../../operations/status/surface-status.js';
import type { FoundSurface } from '../../plugin-loader/plugin-registry.js';
import type { Store } from '../../store/store.js';
import { readVersion } from '../../version.js';
import { HostActors } from './host-actors.js';
import { type InProcessServer, requestInProcess } from './in-process-request.js';
import { readSurfaceError } from './read-surface-error.js';
import { createSurfaceRecords } from './surface-records.js';

/** What the host gives to its surfaces. */
export interface SurfaceServices {
  readonly log: Log;
  readonly chain: readonly CheckedAuthenticator[];
  readonly issuers: readonly string[];
  readonly store: Pick<Store, 'surfaceRecords'>;
  readonly server: InProcessServer;
  readonly modules: Pick<HostApi, 'snapshot' | 'onChange'>;
  /** Default `DEFAULT_LIMITS`. */
  readonly limits?: SurfaceLimits;
}

interface SurfaceLimits {
  /** Of `open`. Milliseconds. */
  readonly openMs: number;
  /** Afterwards the host responds instead of a surface that hangs. Milliseconds. */
  readonly responseMs: number;
  /** Requests without a response at once. */
  readonly calls: number;
}

const DEFAULT_LIMITS: SurfaceLimits = { openMs: 5000, responseMs: 30_000, calls: 1000 };

/** A surface that is on: opened, or with the reason why not. */
export class MountedSurface {
  readonly name: string;
  readonly prefix: string;
  readonly plugin: string;
  readonly authentication: 'host' | 'own';
  /** `null` for a surface that did not come with the host, or has none. */
  readonly shippedUiDigest: string | null;
  readonly log: Log;
  readonly #factory: SurfaceFactory;
  readonly #choice: SurfaceChoice;
  readonly #services: SurfaceServices;
  readonly #actors = new HostActors();
  readonly #owner: ErrorOwner | null;
  readonly #scope: ModuleScope;
  readonly #streams = new Set<() => void>();
  /** Of the clients of calls. */
  readonly #addresses = new WeakMap<SurfaceCall, string | undefined>();
  #surface: Surface | null = null;
  #reason: string | null = 'it is not open yet';
  readonly #limits: SurfaceLimits;
  #calls = 0;

  constructor(
    { factory, plugin, isShipped }: FoundSurface,
    choice: SurfaceChoice,
    services: SurfaceServices,
  ) {
    this.name = factory.name;
    this.prefix = factory.prefix;
    this.plugin = plugin;
    this.authentication = factory.authentication ?? 'host';
    this.shippedUiDigest = isShipped ? (factory.uiDigest ?? null) : null;
    this.log = withFields(services.log, { surface: factory.name });
    this.#factory = factory;
    this.#choice = choice;
    this.#services = services;
    this.#limits = services.limits ?? DEFAULT_LIMITS;
    // As for shipped plugins: an owner would cost time per request of the whole host in Node.js 20.
    this.#owner = isShipped ? null : new UncaughtErrors(this.log, 'uncaught error in surface code');
    this.#scope = new ModuleScope(this.log, this.#owner);
  }

  get status(): SurfaceStatus {
    const { name, plugin, prefix } = this;
    const state = this.#surface === null ? 'failed' : 'open';
    return { name, plugin, prefix, state, reason: this.#reason };
  }

  /**
   * Never rejects for what the surface does: it is then logged and left closed.
   * @throws ConfigError for a config that the surface rejects.
   */
  async open(): Promise<void> {
    const { config, references } = await readPluginConfig({
      ...this.#choice,
      owner: `surface '${this.#choice.name}'`,
      struct: this.#factory.config,
      prefix: ['surfaces', this.#choice.name],
    });
    const { secret, file, path } = references;
    const context: SurfaceContext = {
      scope: this.#scope,
      log: this.log,
      secret,
      file,
      path,
      host: this.#createHostApi(),
      issuers: this.#services.issuers,
      authenticate: (credentials, call) => this.#authenticate(credentials, call),
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
      if (isSurfaceError(error) && error.code === 'validation_failed') {
        await this.#scope.close();
        throw new ConfigError(`surface '${this.name}': ${error.message}`, { cause: error });
      }
      this.#reason = toError(error).message;
      this.log.error({ err: error }, 'surface failed');
      await this.#scope.close();
    }
  }

  /** Runs code of the surface: its uncaught errors are the surface's. */
  run<T>(work: () => T): T {
    return runAs(this.#owner, work);
  }

  /** Ends a response that is not sent. */
  discard(response: unknown): void {
    this.run(() => cancelBody(response));
  }

  /** For the caller that the host has authenticated. */
  addActor(actor: Actor | null): Actor | null {
    return actor && this.#actors.add(actor);
  }

  /**
   * @param address of the client
   * @throws HostError for what the surface throws, when it does not answer in time, and when it has too many
   * requests.
   */
  async fetch(request: Request, call: SurfaceCall, address?: string): Promise<Response> {
    const surface = this.#surface;
    if (surface === null) throw createUnavailable('the surface failed to open');
    const { responseMs, calls } = this.#limits;
    if (this.#calls >= calls) throw createUnavailable('the surface has too many requests');
    this.#calls += 1;
    this.#addresses.set(call, address);
    let answer: Promise<Response> | null = null;
    try {
      answer = Promise.resolve(runAs(this.#owner, () => surface.fetch(request, call)));
      const createLateError = () => createUnavailable('the surface did not answer in time');
      const response: unknown = await withTimeout(answer, responseMs, createLateError);
      return assertResponse(response);
    } catch (error) {
      // A response that comes too late must not keep what its body holds.
      answer?.then((late) => this.discard(late)).catch(() => {});
      throw this.#translate(error, call);
    } finally {
      this.#calls -= 1;
    }
  }

  /** @returns removes it again. */
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
    const { server, modules } = this.#services;
    return Object.freeze({
      version: readVersion(),
      request: async (actor: Actor, request: HostRequest) => {
        const caller = { actor: this.#actors.find(actor), surface: this.name };
        return requestInProcess(server, caller, request);
      },
      snapshot: () => modules.snapshot(),
      onChange: (listener: () => void) => {
        const stop = modules.onChange(() => this.#notify(listener));
        this.#scope.defer(stop);
        return stop;
      },
    });
  }

  /** What the listener throws counts as an uncaught error of the surface. */
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
  ) {
    try {
      const address = call === undefined ? undefined : this.#addresses.get(call);
      const presented = { ...createCredentials(scheme, token), address };
      const { chain } = this.#services;
      const found = await authenticateWith(chain, presented, AUTHORIZATION_ONLY);
      // Credentials of one body are no proof of anything else.
      return found === null || found.bodySha256 !== null ? null : this.addActor(found.actor);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      const { detail, nextActions, headers } = error;
      throw new SurfaceError('unavailable', detail, { cause: error, nextActions, headers });
    }
  }

  #translate(error: unknown, { requestId }: SurfaceCall): HostError {
    if (error instanceof HostError) return error;
    let failure = error;
    try {
      const known = readSurfaceError(error);
      if (known !== null) return known;
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

/** As those of a request to the root of the host. */
function createCredentials(scheme: string, token: string): CallerCredentials {
  const headers = new Map([['authorization', [`${scheme} ${token}`]]]);
  return { scheme, token, method: 'GET', target: '/', headers };
}

function assertSurface(opened: unknown): Surface {
  const { fetch } = (opened ?? {}) as Partial<Surface>;
  if (typeof fetch === 'function') return opened as Surface;
  throw new Error("'open' must return an object with a function 'fetch'");
}

function assertResponse(response: unknown): Response {
  if (!(response instanceof Response) || response.status < 200) {
    throw new TypeError("'fetch' must return a Response");
  }
  if (response.bodyUsed || response.body?.locked) throw new TypeError('the body was read already');
  return response;
}

function cancelBody(response: unknown): void {
  // The surface has finished, so errors of its stream are ignored.
  if (response instanceof Response) void response.body?.cancel().catch(() => {});
}
