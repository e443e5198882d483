import { expect } from 'chai';
import { started } from './started.js';

export interface Stoppable {
  stop?(): unknown;
  close?(): unknown;
}

/** What is to be stopped, by suite. */
type Stops = WeakMap<Mocha.Suite, (() => unknown)[]>;

const afterSuite: Stops = new WeakMap();
const afterTest: Stops = new WeakMap();

/**
 * Creates a value before the tests of a `describe` and stops it after them, the last value first.
 * A host has to end well. @returns forwards to the value; throws before the hook has run.
 */
export function use<T extends object>(
  create: () => T | Promise<T>,
  stop: (value: T) => unknown = stopValue,
): T {
  return useIn(afterSuite, { before, after }, create, stop);
}

/** Works like `use`, before and after each test. */
export function useEach<T extends object>(
  create: () => T | Promise<T>,
  stop: (value: T) => unknown = stopValue,
): T {
  return useIn(afterTest, { before: beforeEach, after: afterEach }, create, stop);
}

/** @returns keeps a value until the end of the test, and then stops it, the last value first. */
export function useKept(): <T extends Stoppable>(value: T) => T {
  const kept: Stoppable[] = [];
  afterEach(async () => {
    for (const value of kept.splice(0).reverse()) await stopValue(value);
  });
  return (value) => {
    kept.push(value);
    return value;
  };
}

function useIn<T extends object>(
  stops: Stops,
  hooks: { readonly before: Mocha.HookFunction; readonly after: Mocha.HookFunction },
  create: () => T | Promise<T>,
  stop: (value: T) => unknown,
): T {
  let current: T | undefined;
  hooks.before(async function () {
    const value = await create();
    current = value;
    listStops(stops, this).push(() => stop(value));
  });
  hooks.after(async function () {
    for (const stopNext of listStops(stops, this).splice(0).reverse()) await stopNext();
  });
  return forwardTo(() => started(current));
}

function listStops(stops: Stops, { test }: Mocha.Context): (() => unknown)[] {
  const suite = started(test?.parent);
  const list = stops.get(suite) ?? [];
  stops.set(suite, list);
  return list;
}

async function stopValue(value: Stoppable): Promise<void> {
  if (value.stop === undefined) return void (await value.close?.());
  const exit = await value.stop();
  if (exit !== undefined) expect(exit).to.deep.equal({ code: 0, signal: null });
}

function forwardTo<T extends object>(find: () => T): T {
  return new Proxy({} as T, {
    get: (_, name) => {
      const member: unknown = Reflect.get(find(), name);
      // A method; a class would lose its static members.
      const isMethod = typeof member === 'function' && !Object.hasOwn(member, 'prototype');
      return isMethod ? member.bind(find()) : member;
    },
    set: (_, name, value) => Reflect.set(find(), name, value),
    has: (_, name) => Reflect.has(find(), name),
    ownKeys: () => Reflect.ownKeys(find()),
    getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(find(), name),
  });
}
