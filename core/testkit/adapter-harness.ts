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
import { createInvocation, type RouteCall } from './fakes/create-invocation.js';
import { createFakeOpenContext, type FakeOpenContext } from './fakes/fake-open-context.js';
import type { Echo } from './reference/behaviours.js';
import { createReferenceModule } from './reference/reference-module.js';
import type { RunningReference } from './reference/running-reference.js';
import { Wait } from './wait.js';

const DEFAULT_CYCLES = 1_000;
const MIN_CYCLES = 50;
const DEFAULT_TIMEOUT_MS = 10_000;

/** A provider that a clause has opened. */
export interface OpenedProvider {
  readonly provider: Provider;
  readonly context: FakeOpenContext;
  /** As the host calls: with the first endpoint, where the provider names some. */
  invoke(
    operation: RouteCall | ProviderOperation,
    others?: Partial<Omit<Invocation, 'operation'>>,
  ): Promise<Outcome>;
  /** `invoke` of a `GET`, or of what `call` says, that must be answered 200 with JSON. */
  read<T = Echo>(target: string, call?: RouteCall): Promise<T>;
  close(): Promise<void>;
}

/** What one clause works with: a reference module of its own, and all that it opens. */
export class AdapterHarness {
  readonly adapter: ProviderAdapter;
  readonly reference: RunningReference;
  readonly cycles: number;
  readonly patience: Wait;
  readonly #opened: OpenedProvider[] = [];

  private constructor(subject: AdapterSubject, reference: RunningReference) {
    this.adapter = subject.adapter;
    this.reference = reference;
    this.cycles = Math.max(MIN_CYCLES, subject.cycles ?? DEFAULT_CYCLES);
    this.patience = new Wait(subject.patienceMs ?? DEFAULT_TIMEOUT_MS);
  }

  static async start(subject: AdapterSubject): Promise<AdapterHarness> {
    return new AdapterHarness(subject, await subject.start(createReferenceModule()));
  }

  /** As {@link openUnready}, and waits until the provider is found ready: some connect behind the scenes. */
  async open(): Promise<OpenedProvider> {
    const opened = await this.openUnready();
    await this.ready(opened);
    return opened;
  }

  /** As {@link openOnce}; what the clause does not close is closed at its end. */
  async openUnready(): Promise<OpenedProvider> {
    const opened = await this.openOnce();
    this.#opened.push(opened);
    return opened;
  }

  /** @throws AssertionError when `check` never resolves, of the provider or of an endpoint. */
  async ready({ provider }: OpenedProvider): Promise<void> {
    const { signal } = new AbortController();
    const isReady = (endpoint?: string) => () =>
      provider.check(signal, endpoint).then(
        () => true,
        () => false,
      );
    await this.patience.eventually('that check finds the provider ready', isReady());
    for (const { id } of provider.endpoints?.() ?? []) {
      await this.patience.eventually('that check finds an endpoint ready', isReady(id));
    }
  }

  /** As the host opens: the struct judges the config first. The clause must close it. */
  async openOnce(): Promise<OpenedProvider> {
    const config = this.check(this.reference.config);
    const context = createFakeOpenContext(this.reference);
    let provider: Provider;
    try {
      const opening = Promise.resolve(this.adapter.open(config, context));
      provider = await this.patience.settles('open', opening);
    } catch (error) {
      await context.scope.close();
      throw error;
    }
    return createOpened(provider, context, this.patience);
  }

  /** @throws AssertionError for a config that the adapter's struct refuses. */
  check(value: unknown): unknown {
    const [error, config] = this.adapter.config.validate(value, { coerce: true });
    assert.equal(
      error,
      undefined,
      `config must accept what the reference needs: ${error?.message}`,
    );
    return config;
  }

  /**
   * The failure with which `call` ends.
   * @throws AssertionError when it is answered, hangs, or throws anything but a ProviderFailure.
   */
  async failureOf(
    what: string,
    call: Promise<unknown>,
    ...expected: FailureCode[]
  ): Promise<ProviderFailure> {
    const caught = await this.patience.settles(
      what,
      call.then(
        () => null,
        (error: unknown) => ({ error }),
      ),
    );
    assert.ok(caught !== null, `${what} must fail, but it was answered`);
    const { error } = caught;
    assert.ok(
      isProviderFailure(error),
      `${what} must throw a ProviderFailure, it threw ${describe(error)}`,
    );
    const known = expected.length === 0 ? FAILURE_CODES : expected;
    assert.ok(
      known.includes(error.failure),
      `${what} must fail as ${known.join(' or ')}, it failed as ${error.failure} (${error.message})`,
    );
    return error;
  }

  /** Ends all that the clause has left open. */
  async end(): Promise<void> {
    for (const opened of this.#opened) {
      await this.patience.settles('the close of the scope', opened.close());
    }
    await this.patience.settles('stop of the reference', this.reference.stop());
  }
}

/** The signal of a call whose time is over after `ms`, with the reason that the host gives. */
export function deadlineAfter(ms: number): AbortSignal {
  const controller = new AbortController();
  const reason = new ProviderFailure('timeout', `no answer within ${ms} ms`);
  setTimeout(() => controller.abort(reason), ms);
  return controller.signal;
}

/** Aborts as the host does when the caller has gone. */
export function cancel(controller: AbortController): void {
  controller.abort(new ProviderFailure('cancelled', 'the caller has gone'));
}

/** As text: a body that is missing is empty. */
export function textOf({ body }: Outcome): string {
  return Buffer.from(joinBody(body)).toString();
}

function createOpened(
  provider: Provider,
  context: FakeOpenContext,
  patience: Wait,
): OpenedProvider {
  const [endpoint] = provider.endpoints?.() ?? [];
  const picked = endpoint === undefined ? {} : { endpoint: endpoint.id };
  const invoke: OpenedProvider['invoke'] = async (operation, others = {}) =>
    provider.invoke(createInvocation(operation, { ...picked, ...others }));
  return {
    provider,
    context,
    invoke,
    read: async (target, call = {}) => {
      const method = call.method ?? 'GET';
      const work = invoke({ ...call, target });
      const outcome = await patience.settles(`${method} ${target}`, work);
      assert.equal(outcome.status, 200, `${method} ${target} must be answered with 200`);
      return JSON.parse(textOf(outcome));
    },
    close: () => context.scope.close(),
  };
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : `a ${typeof error}`;
}
