import type {
  Invocation,
  OpenContext,
  Outcome,
  Provider,
  ProviderAdapter,
  ProviderFailure,
} from '../../../../core/contract/index.js';
import type { StartReference } from '../../../../core/testkit/index.js';
import { httpAdapter } from '../../../../plugins/http/http-adapter.js';

/** An adapter with one bug, and the clause that must catch it. */
export interface Mutant {
  readonly clause: string;
  readonly defect: string;
  /** The reason of the failed clause. */
  readonly reason: RegExp;
  readonly adapter: ProviderAdapter;
  /** Default: the reference over HTTP. */
  readonly start?: StartReference;
}

export const GOOD = httpAdapter as ProviderAdapter;
export const UTF8 = { decode: (bytes: Uint8Array | null) => Buffer.from(bytes ?? []).toString() };

/** Leaks of the mutants, released after each test. */
export const leaks: { readonly timers: NodeJS.Timeout[]; memory: unknown[] } = {
  timers: [],
  memory: [],
};

export function cleanUpAfterMutants(): void {
  for (const timer of leaks.timers.splice(0)) clearInterval(timer);
  leaks.memory = [];
}

type Change = (
  good: Provider,
  context: OpenContext,
  config: { readonly endpoints: readonly string[] },
) => Partial<Provider> | Promise<Partial<Provider>>;

export function changeProvider(change: Change): ProviderAdapter {
  return {
    ...GOOD,
    open: async (config, context) => {
      const good = await GOOD.open(config, context);
      const changes = await change(good, context, config as { endpoints: string[] });
      return { ...good, ...changes };
    },
  };
}

export function changeRequest(change: (invocation: Invocation) => Invocation): ProviderAdapter {
  return changeProvider((good) => ({ invoke: (invocation) => good.invoke(change(invocation)) }));
}

export function changeTarget(change: (target: string) => string): ProviderAdapter {
  return changeRequest((invocation) => {
    const { operation } = invocation;
    if (operation.kind !== 'http_route') return invocation;
    return { ...invocation, operation: { ...operation, target: change(operation.target) } };
  });
}

export function changeResponse(
  change: (outcome: Outcome, invocation: Invocation) => Outcome | Promise<Outcome>,
): ProviderAdapter {
  return changeProvider((good) => ({
    invoke: async (invocation) => change(await good.invoke(invocation), invocation),
  }));
}

export function changeFailure(
  change: (failure: ProviderFailure, invocation: Invocation) => unknown,
): ProviderAdapter {
  return changeProvider((good) => ({
    invoke: (invocation) =>
      good.invoke(invocation).catch(async (failure: ProviderFailure) => {
        throw await change(failure, invocation);
      }),
  }));
}

export const NEVER = new Promise<never>(() => {});
export const targetOf = ({ operation }: Invocation) =>
  operation.kind === 'http_route' ? operation.target : '';
export const withoutSignal = ({
  cancellation: _ignored,
  ...invocation
}: Invocation): Invocation => ({
  ...invocation,
  signal: new AbortController().signal,
});
