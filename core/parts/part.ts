import type { HostConfig } from '../config/settings.js';
import { createToken, type DependencyContainer, type InjectionToken } from '../injection.js';
import type { CollectedMetric } from '../observability/metrics/collected-metric.js';
import type { Processes } from '../processes.js';

/** Registers something that request handlers inject. */
type Provision = (container: DependencyContainer) => void;

/** A part of the host. It is open once its definition returns it. All members are optional. */
export interface HostPart {
  readonly provides?: readonly Provision[];
  readonly metrics?: readonly CollectedMetric[];
  /** Called with the URL once the host listens. */
  readonly onListening?: (url: string) => void;
  /** Called before the listener drains. */
  readonly onDraining?: () => void;
  /**
   * Called once all requests in flight have ended.
   * @param isReplaced whether another process of the host takes the place of this one
   */
  readonly onDrained?: (isReplaced: boolean) => void | Promise<void>;
  /** Called for the last part first. */
  readonly close?: () => void | Promise<void>;
}

export interface PartDefinition<Part extends HostPart = HostPart> {
  readonly token: InjectionToken<Part>;
  /** @param container has the parts that are open */
  open(container: Pick<DependencyContainer, 'resolve'>): Part | Promise<Part>;
}

export const CONFIG = createToken<HostConfig>('config');
export const PROCESSES = createToken<Processes>('processes');
export const CONTAINER = createToken<DependencyContainer>('container');

type Tokens<Values extends readonly unknown[]> = {
  readonly [Index in keyof Values]: InjectionToken<Values[Index]>;
};

/**
 * Defines a part by what it is opened from.
 * @param dependencies tokens of values, and of parts that stand before it in the list
 */
export function definePart<Values extends readonly unknown[], Part extends HostPart>(
  name: string,
  dependencies: readonly [...Tokens<Values>],
  open: (...values: Values) => Part | Promise<Part>,
): PartDefinition<Part> {
  return {
    token: createToken<Part>(`part.${name}`),
    open: (container) => {
      const values = dependencies.map((token) => container.resolve(token as InjectionToken));
      return open(...(values as unknown as Values));
    },
  };
}

/** Provides a value, also `null`, to request handlers. */
export function provide<T>(token: InjectionToken<T>, value: T): Provision {
  return (container) => void container.register(token, { useFactory: () => value });
}
