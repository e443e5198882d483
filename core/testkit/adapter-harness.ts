import assert from 'node:assert/strict';
import {
  FAILURE_CODES,
  type FailureCode,
  type Invocation,
  isProviderFailure,
  joinBody,
  type Outcome,
  type Provider,
  type ProviderAdapter,
  ProviderFailure,
  type ProviderOperation,
} from '../contract/index.js';
import type { AdapterSubject } from './adapter-subject.js';
import { createInvocation, createRoute, type RouteCall } from './fakes/create-invocation.js';
import { createFakeOpenContext, type FakeOpenContext } from './fakes/fake-open-context.js';
import type { Echo } from './reference/behaviors.js';
import { createReferenceModule } from './reference/reference-module.js';
import { ReferenceRoutes } from './reference/reference-routes.js';
import type { CarriedCalls, RunningReference } from './reference/running-reference.js';
import { createWait, openLikeHost, startSubject } from './start-subject.js';
import type { Wait } from './wait.js';

const DEFAULT_CYCLES = 1_000;
const MIN_CYCLES = 50;

/** A provider opened by a clause. */
export interface OpenedProvider {
  readonly provider: Provider;
  readonly context: FakeOpenContext;
  /** The routes of the reference module. */
  readonly routes: ReferenceRoutes;
  /** Calls the first endpoint if the provider has several, as the host does. */
  invoke(
    operation: RouteCall | ProviderOperation,
    others?: Partial<Omit<Invocation, 'operation'>>,
  ): Promise<Outcome>;
  /** The same, but returns the response as the adapter does, also one that carries another. */
  send: OpenedProvider['invoke'];
  /** Sends a `GET`, or `call`, and requires a JSON response with status 200. */
  read<T = Echo>(target: string, call?: RouteCall): Promise<T>;
  close(): Promise<void>;
}

/** The fixture of one clause: its own reference module and the providers that it opens. */
export class AdapterHarness {
  readonly adapter: ProviderAdapter;
  readonly reference: RunningReference;
  readonly cycles: number;
  readonly wait: Wait;
  readonly #opened: OpenedProvider[] = [];

  private constructor(subject: AdapterSubject, reference: RunningReference, wait: Wait) {
    this.adapter = subject.adapter;
    this.reference = reference;
    this.cycles = Math.max(MIN_CYCLES, subject.cycles ?? DEFAULT_CYCLES);
    this.wait = wait;
  }

  static async start(subject: AdapterSubject): Promise<AdapterHarness> {
    const wait = createWait(subject);
    const start = () => subject.start(createReferenceModule());
    return new AdapterHarness(subject, await startSubject(wait, start), wait);
  }

  /**
   * Opens the provider like {@link openUnready}, then waits until it is ready: some connect in the
   * background.
   */
  async open(): Promise<OpenedProvider> {
    const opened = await this.openUnready();
    await this.ready(opened);
    return opened;
  }

  /** Opens the provider like {@link openOnce}; it is closed after the clause. */
  async openUnready(): Promise<OpenedProvider> {
    const opened = await this.openOnce();
    this.#opened.push(opened);
    return opened;
  }

  /** @throws AssertionError when `check` of the provider or of an endpoint never resolves. */
  async ready({ provider }: OpenedProvider): Promise<void> {
    const { signal } = new AbortController();
    const isReady = (endpoint?: string) => () =>
      provider.check(signal, endpoint).then(
        () => true,
        () => false,
      );
    await this.wait.eventually('check of the provider', isReady());
    for (const { id } of provider.endpoints?.() ?? []) {
      await this.wait.eventually('check of an endpoint', isReady(id));
    }
  }

  /** Validates the config and opens the provider, like the host. The clause must close it. */
  async openOnce(): Promise<OpenedProvider> {
    const context = createFakeOpenContext(this.reference);
    const { config } = this.reference;
    const provider = await openLikeHost(this.adapter, config, context, this.wait);
    const routes = new ReferenceRoutes(this.adapter, this.reference);
    provider.useRoutes?.(routes.all);
    const { carried } = this.reference;
    return createOpened({ provider, context, routes, carried }, this.wait);
  }

  /** @throws AssertionError for a config that the adapter's struct rejects. */
  check(value: unknown): unknown {
    const [error, config] = this.adapter.config.validate(value, { coerce: true });
    assert.equal(
      error,
      undefined,
      `config must accept the config of the reference: ${error?.message}`,
    );
    return config;
  }

  /**
   * Resolves with the failure of `call`.
   * @throws AssertionError when it succeeds, hangs, or throws anything but a ProviderFailure.
   */
  async failureOf(
    subject: string,
    call: Promise<unknown>,
    ...expected: FailureCode[]
  ): Promise<ProviderFailure> {
    const caught = await this.wait.settles(
      subject,
      call.then(
        () => null,
        (error: unknown) => ({ error }),
      ),
    );
    assert.ok(caught !== null, `${subject} must fail, but it succeeded`);
    const { error } = caught;
    assert.ok(
      isProviderFailure(error),
      `${subject} must throw a ProviderFailure, it threw ${describe(error)}`,
    );
    const codes = expected.length === 0 ? FAILURE_CODES : expected;
    assert.ok(
      codes.includes(error.failure),
      `${subject} must fail as ${codes.join(' or ')}, it failed as ${error.failure} (${error.message})`,
    );
    return error;
  }

  /** The length of the response to a `GET`, which is longer than a body that it carries. */
  async lengthOf(opened: OpenedProvider, target: string): Promise<number> {
    const work = opened.send({ target });
    return joinBody((await this.wait.settles(`GET ${target}`, work)).body).length;
  }

  /** Closes all resources that the clause has left open, also after an error of one of them. */
  async close(): Promise<void> {
    const closing = await Promise.allSettled(
      this.#opened.map((opened) => this.wait.settles('close of the scope', opened.close())),
    );
    await this.wait.settles('stop of the reference', this.reference.stop());
    for (const result of closing) if (result.status === 'rejected') throw result.reason;
  }
}

/** Creates a signal that aborts after `ms`, with the same reason as the host's. */
export function deadlineAfter(ms: number): AbortSignal {
  const controller = new AbortController();
  const reason = new ProviderFailure('timeout', `no response within ${ms} ms`);
  setTimeout(() => controller.abort(reason), ms);
  return controller.signal;
}

/** Aborts like the host when the client disconnects. */
export function cancel(controller: AbortController): void {
  controller.abort(new ProviderFailure('cancelled', 'the client has disconnected'));
}

/** The body as text; empty without one. */
export function textOf({ body }: Outcome): string {
  return Buffer.from(joinBody(body)).toString();
}

function createOpened(
  {
    provider,
    context,
    routes,
    carried,
  }: Pick<OpenedProvider, 'provider' | 'context' | 'routes'> & {
    readonly carried: CarriedCalls | undefined;
  },
  wait: Wait,
): OpenedProvider {
  const [endpoint] = provider.endpoints?.() ?? [];
  const picked = endpoint === undefined ? {} : { endpoint: endpoint.id };
  const call: OpenedProvider['invoke'] = async (operation, others = {}) =>
    provider.invoke(createInvocation(addOptions(operation, routes), { ...picked, ...others }));
  const send: OpenedProvider['invoke'] = async (operation, others) => {
    const route = 'kind' in operation ? operation : createRoute(operation);
    const isCarried = carried !== undefined && route.kind === 'http_route';
    return call(isCarried ? carried.write(route) : operation, others);
  };
  const invoke: OpenedProvider['invoke'] = async (operation, others) => {
    const outcome = await send(operation, others);
    const isRoute = !('kind' in operation) || operation.kind === 'http_route';
    return carried === undefined || !isRoute ? outcome : carried.read(outcome);
  };
  return {
    provider,
    context,
    routes,
    invoke,
    send,
    read: async (target, call = {}) => {
      const method = call.method ?? 'GET';
      const work = invoke({ ...call, target });
      const outcome = await wait.settles(`${method} ${target}`, work);
      assert.equal(outcome.status, 200, `${method} ${target} must have the status 200`);
      return JSON.parse(textOf(outcome));
    },
    close: () => context.scope.close(),
  };
}

function addOptions(
  operation: RouteCall | ProviderOperation,
  routes: ReferenceRoutes,
): RouteCall | ProviderOperation {
  if ('kind' in operation && operation.kind !== 'http_route') return operation;
  const { method = 'GET', target = '/' } = operation;
  const options = routes.optionsOf(method, target);
  return options === undefined ? operation : { options, ...operation };
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : `a ${typeof error}`;
}
