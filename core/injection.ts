import 'reflect-metadata';
import { type DependencyContainer, type InjectionToken, inject as injectUntyped } from 'tsyringe';

/** Import these from here: tsyringe fails to load before the polyfill above. */
export { container as rootContainer, injectable } from 'tsyringe';

export type Token<T> = InjectionToken<T> & symbol;

export function createToken<T>(name: string): Token<T> {
  return Symbol.for(`modgate.${name}`) as Token<T>;
}

/** tsyringe's `inject`, with a token that does not fit its parameter being a compile error. */
export function inject<T>(token: Token<T>) {
  return <C extends abstract new (...args: never[]) => unknown, I extends number>(
    target: C & (T extends ConstructorParameters<C>[I] ? unknown : never),
    propertyKey: undefined,
    index: I,
  ): void => injectUntyped(token)(target, propertyKey, index);
}

type HandlerClass<T> = new (...args: never[]) => T;

/**
 * Resolves an operation at boot. A forgotten `@inject` would pass `undefined` without a word, so the
 * tokens are counted against the constructor's parameters first.
 * @throws Error that names the class.
 */
export function resolveHandler<T>(container: DependencyContainer, operation: HandlerClass<T>): T {
  // Where tsyringe's `inject` keeps the tokens, by index of the parameter.
  const tokens: object = Reflect.getOwnMetadata('injectionTokens', operation) ?? {};
  const injected = Object.keys(tokens).length;
  if (injected !== operation.length) {
    throw new Error(
      `${operation.name} has ${operation.length} constructor parameters and ${injected} of them injected`,
    );
  }
  return container.resolve(operation as new (...args: unknown[]) => T);
}
