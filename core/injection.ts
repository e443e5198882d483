import 'reflect-metadata';
import { type DependencyContainer, type InjectionToken, inject as injectUntyped } from 'tsyringe';

/** Import these from here: tsyringe fails to load before the polyfill above. */
export { container as rootContainer, injectable } from 'tsyringe';

type Token<T> = InjectionToken<T> & symbol;

type Class = abstract new (...args: never[]) => unknown;

/** How many constructor parameters of a class are injected. */
const injectedCounts = new WeakMap<Class, number>();

export function createToken<T>(name: string): Token<T> {
  return Symbol.for(`modgate.${name}`) as Token<T>;
}

/** tsyringe's `inject`; a token that does not fit its parameter is a compile error. */
export function inject<T>(token: Token<T>) {
  return <C extends Class, I extends number>(
    target: C & (T extends ConstructorParameters<C>[I] ? unknown : never),
    propertyKey: undefined,
    index: I,
  ): void => {
    injectedCounts.set(target, (injectedCounts.get(target) ?? 0) + 1);
    injectUntyped(token)(target, propertyKey, index);
  };
}

type HandlerClass<T> = new (...args: never[]) => T;

/**
 * Builds a handler at start. A forgotten `@inject` would pass `undefined` silently, so the injected parameters
 * are counted first.
 * @throws Error that names the class.
 */
export function resolveHandler<T>(container: DependencyContainer, handler: HandlerClass<T>): T {
  const injected = injectedCounts.get(handler) ?? 0;
  if (injected !== handler.length) {
    throw new Error(
      `${handler.name} has ${handler.length} constructor parameters and ${injected} of them injected`,
    );
  }
  return container.resolve(handler as new (...args: unknown[]) => T);
}
