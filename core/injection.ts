import 'reflect-metadata';
import { type InjectionToken, inject, injectAll, injectable as injectableClass } from 'tsyringe';

/** Import these from here: tsyringe fails to load before the polyfill above. */
export {
  container as rootContainer,
  type DependencyContainer,
  type InjectionToken,
} from 'tsyringe';

/** Names an interface with several implementations, or a value of the configuration; a class is its own token. */
type Token<T> = InjectionToken<T> & symbol;

export function createToken<T>(name: string): Token<T> {
  return Symbol.for(`modgate.${name}`) as Token<T>;
}

/** A list of all implementations that are registered under a token. */
class All<List> {
  declare readonly list: List;
  readonly token: InjectionToken;

  constructor(token: InjectionToken) {
    this.token = token;
  }
}

/** Injects all implementations that are registered under a token, in the order of registration. */
export function allOf<T>(token: Token<T>): All<readonly T[]> {
  return new All(token);
}

type Dependency<T> = InjectionToken<T> | All<T>;

/**
 * Marks a class that the container builds, with its dependencies in the order of the constructor. A
 * missing or unsuitable dependency is a compile error: tsyringe would pass `undefined`.
 */
export function injectable<Parameters extends unknown[]>(
  ...dependencies: { [Index in keyof Parameters]: Dependency<Parameters[Index]> }
) {
  return (target: new (...args: Parameters) => unknown): void => {
    for (const [index, dependency] of dependencies.entries()) {
      const decorate = dependency instanceof All ? injectAll(dependency.token) : inject(dependency);
      decorate(target, undefined, index);
    }
    injectableClass()(target);
  };
}
